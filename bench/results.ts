import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { projectFolder } from "../sandbox/paths";
import type { Summary } from "./statistics";

/** One row of the table. */
export interface Row {
  /** What was measured, such as "`pulumi up`, 1+1". */
  readonly what: string;
  readonly unit: "s" | "MB" | "kB" | "×" | "";
  readonly figure: Summary;
  /** The ratio of the figure to a reference, and the name of the reference. */
  readonly ratio?: { readonly figure: Summary; readonly to: string };
  /** The goal, as text, and whether it was reached. */
  readonly wanted?: { readonly words: string; readonly reached: boolean };
}

/** The result of one benchmark, and its environment. */
export interface Result {
  readonly name: string;
  readonly title: string;
  /** Day of the run, such as "2026-11-21". */
  readonly date: string;
  readonly machine: string;
  readonly versions: string;
  /** Load average of the last minute before each run: minimum and maximum. */
  readonly load: readonly [number, number];
  readonly rows: readonly Row[];
  /** Notes for interpreting the figures. */
  readonly notes: readonly string[];
  readonly images?: readonly Image[];
}

/** An image in docs/images. */
export interface Image {
  /** Name of the file. */
  readonly file: string;
  /** For readers who don't see it. */
  readonly shows: string;
}

/** Results are kept beside the code that produced them, so that one benchmark alone can be repeated. */
const resultsFile = path.join(projectFolder, "bench", "results.json");

/** Replaces earlier results with the same name. */
export function mergeResults(earlier: readonly Result[], later: readonly Result[]): Result[] {
  const merged = new Map([...earlier, ...later].map((result) => [result.name, result]));
  return [...merged.values()].sort((a, b) => a.name.localeCompare(b.name));
}

/** Returns all recorded results. */
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
