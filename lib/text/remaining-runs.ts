/** The prefixes of the lines of remaining runs. */
const BEGINNINGS = ["in the next run", "in the run after it"];

/** Returns what remaining runs do to the machines, one line each, in order. */
export function laterLines(runs: readonly { readonly lines: readonly string[] }[]): string[] {
  return runs.flatMap(({ lines }, index) =>
    lines.map((line) => `then, ${BEGINNINGS[index] ?? `in run ${index + 2}`}: ${line}`),
  );
}
