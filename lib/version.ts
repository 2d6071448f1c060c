import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Returns foresail's version from its package.json (two folders up from the compiled file). */
export function foresailVersion(): string {
  const text = readFileSync(join(__dirname, "..", "..", "package.json"), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}

/** Returns the User-Agent of API calls, which names the stack. */
export function userAgent({ stack }: { stack?: string | undefined }): string {
  return ["foresail/" + foresailVersion(), ...(stack === undefined ? [] : [stack])].join(" ");
}
