import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";

/** The project's folder; the tests run from bin/test/unit/docs. */
export const PROJECT = path.resolve(__dirname, "../../../..");

/** Text of a file, by its path in the project. */
export function read(file: string): string {
  return readFileSync(path.join(PROJECT, file), "utf8");
}

const LEFT_OUT = new Set(["node_modules", "bin", ".git", ".sandbox"]);

/** Paths in the project of all files below a folder whose names end so, sorted. */
export function filesBelow(folder: string, ending: string): string[] {
  return readdirSync(path.join(PROJECT, folder), { withFileTypes: true })
    .flatMap((entry) => {
      const file = path.posix.join(folder, entry.name);
      if (entry.isDirectory()) return LEFT_OUT.has(entry.name) ? [] : filesBelow(file, ending);
      return entry.name.endsWith(ending) ? [file] : [];
    })
    .sort();
}

/** The pages for readers. */
export function pages(): string[] {
  return filesBelow(".", ".md");
}
