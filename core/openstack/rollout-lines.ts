import type { MachineTurn } from "./machine-rollout";

/** How the lines of the runs to come begin. */
const BEGINNINGS = ["in the next run", "in the run after it"];

/** What later runs do to the machines, a line each, in order. */
export function laterLines(turns: readonly MachineTurn[]): string[] {
  return turns.flatMap(({ lines }, index) =>
    lines.map((line) => `then, ${BEGINNINGS[index] ?? `in run ${index + 2}`}: ${line}`),
  );
}
