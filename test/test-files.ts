import { existsSync, readdirSync } from "node:fs";
import path from "node:path";

/** Thrown when the compiled program does not match its sources. */
export class NotCompiledError extends Error {
  override readonly name = "NotCompiledError";

  constructor(source: string) {
    super(`${source} is not compiled; run: npm run build`);
  }
}

/**
 * Lists the compiled test files in some folders under test/. The list is made from the sources, so that a test whose
 * source was deleted does not remain in bin/.
 * @param folder the project
 * @throws NotCompiledError
 */
export function listTestFiles(folder: string, underTest: readonly string[]): string[] {
  return underTest.flatMap((each) => {
    const sources = path.join(folder, "test", each);
    if (!existsSync(sources)) return [];
    return readdirSync(sources, { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".test.ts"))
      .sort()
      .map((name) => {
        const compiled = path.join(folder, "bin", "test", each, name.replace(/\.ts$/, ".js"));
        if (!existsSync(compiled)) throw new NotCompiledError(path.join("test", each, name));
        return compiled;
      });
  });
}
