import { foresailVersion } from "../version";

/** How calls to the API name the stack that asks. */
export function userAgent({ stack }: { stack?: string | undefined }): string {
  return ["foresail/" + foresailVersion(), ...(stack === undefined ? [] : [stack])].join(" ");
}
