import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { projectFolder } from "../sandbox/places";
import type { Summary } from "./statistics";

/** One row of the table. */
export interface Row {
  /** What was measured, such as "`pulumi up`, 1+1". */
  readonly what: string;
  readonly unit: "s" | "MB" | "kB" | "×" | "";
  readonly figure: Summary;
  /** Figure divided by what it is compared with, and with what. */
  readonly ratio?: { readonly figure: Summary; readonly to: string };
  /** What is to be reached, in words, and whether it was. */
  readonly wanted?: { readonly words: string; readonly reached: boolean };
}

/** What one benchmark came to, and on what. */
export interface Result {
  readonly name: string;
  readonly title: string;
  /** Day of the run, such as "2026-11-21". */
  readonly date: string;
  readonly machine: string;
  readonly versions: string;
  /** Load average of the last minute before each run: the least and the most. */
  readonly load: readonly [number, number];
  readonly rows: readonly Row[];
  /** What a reader needs to take the figures right. */
  readonly notes: readonly string[];
}

/** Results are kept beside the code that made them, so that one benchmark alone can be run anew. */
const resultsFile = path.join(projectFolder, "bench", "results.json");

/** Puts results in the place of earlier ones of the same name. */
export function mergeResults(earlier: readonly Result[], later: readonly Result[]): Result[] {
  const merged = new Map([...earlier, ...later].map((result) => [result.name, result]));
  return [...merged.values()].sort((a, b) => a.name.localeCompare(b.name));
}

/** All results on record. */
export function readResults(file = resultsFile): Result[] {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as Result[];
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

export function writeResults(results: readonly Result[], file = resultsFile): void {
  writeFileSync(file, `${JSON.stringify(results, undefined, 2)}\n`);
}
