import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { projectFolder } from "../sandbox/paths";
import { pairedRatio, type Summary, summarize } from "./statistics";

/** The ratio of a figure to a reference, the name of the reference, and its median; older results have no median. */
export interface Ratio {
  readonly figure: Summary;
  readonly to: string;
  readonly base?: number;
}

/**
 * Compares figures with those of a reference from alternating runs.
 * @throws Error when there are no pairs, or unequal numbers of runs
 */
export function ratioTo(to: string, base: readonly number[], measured: readonly number[]): Ratio {
  return { figure: pairedRatio(base, measured), to, base: summarize(base).median };
}

/** One row of the table. */
export interface Row {
  /** What was measured, such as "`pulumi up`, 1+1". */
  readonly what: string;
  readonly unit: "s" | "MB" | "kB" | "×" | "";
  readonly figure: Summary;
  readonly ratio?: Ratio;
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
  /** The part of the processors that other work took before each run, from 0 to 1; older results have none. */
  readonly busy?: readonly [number, number];
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
