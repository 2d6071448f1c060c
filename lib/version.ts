import { ownManifest } from "./own-manifest";

/** Returns foresail's version from its package.json. */
export const foresailVersion = (): string => ownManifest().version;

/** Returns the User-Agent of API calls, which names the stack. */
export function userAgent({ stack }: { stack?: string | undefined }): string {
  return ["foresail/" + foresailVersion(), ...(stack === undefined ? [] : [stack])].join(" ");
}
