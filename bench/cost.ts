import { readFileSync } from "node:fs";

/** The cost of one run. */
export interface Cost {
  /** Wall time. */
  readonly seconds: number;
  /** User and system time of the program and all that it started and waited for; steadier on a busy machine. */
  readonly processorSeconds: number;
}

/** The kernel counts in hundredths of a second on every Linux that node runs on. */
const TICKS = 100;

/** Time of all ended children in seconds, from the text of /proc/self/stat. */
export function childrenSeconds(stat: string): number {
  // the name is in parentheses and may contain spaces
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[13]) + Number(fields[14])) / TICKS;
}

/** Runs work that starts programs one after another and waits for each. Linux only. */
export async function costOf(work: () => Promise<unknown>): Promise<Cost> {
  const before = childrenSeconds(readFileSync("/proc/self/stat", "utf8"));
  const began = performance.now();
  await work();
  const seconds = (performance.now() - began) / 1000;
  return { seconds, processorSeconds: childrenSeconds(readFileSync("/proc/self/stat", "utf8")) - before };
}
