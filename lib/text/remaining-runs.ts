/** How the lines of the runs to come begin. */
const BEGINNINGS = ["in the next run", "in the run after it"];

/** What later runs do to the machines, a line each, in order. */
export function laterLines(runs: readonly { readonly lines: readonly string[] }[]): string[] {
  return runs.flatMap(({ lines }, index) =>
    lines.map((line) => `then, ${BEGINNINGS[index] ?? `in run ${index + 2}`}: ${line}`),
  );
}
