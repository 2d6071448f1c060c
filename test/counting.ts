/** What one mocha process writes when it ends. */
export interface SuiteResult {
  readonly passed: number;
  /** Tests and hooks that failed, each with the error's stack. */
  readonly failures: readonly { readonly title: string; readonly error: string }[];
  /** Tests that did not run, each with why. */
  readonly pending: readonly { readonly title: string; readonly reason: string }[];
  /** Failures of files that passed when they were run again, by themselves. */
  readonly unstable?: SuiteResult["failures"];
  /** Kinds of what keeps the process alive after its last test, such as "TCPSocketWrap". */
  readonly active?: readonly string[];
}

/** The outcome of one tier, as the runner saw it. */
export interface TierOutcome {
  readonly tier: string;
  /** Absent when the process ended without writing one: it crashed, hung or was interrupted. */
  readonly result?: SuiteResult;
  /** A failure beyond single tests: setup, a crash, a process that would not end. */
  readonly breakage?: string;
  /** The tier was left out on purpose, and why. */
  readonly leftOut?: string;
  /** When its tests ran, in seconds since the run began. */
  readonly ran?: { readonly from: number; readonly to: number };
}

/** The end of a test run. */
interface RunSummary {
  readonly passed: number;
  readonly failed: number;
  /** 0: all passed; 1: something failed; 2: there was nothing to run. */
  readonly exitCode: 0 | 1 | 2;
  /** Lines to print, in order, failures near the end, since a log may be cut; the last is `N passed, N failed`, unless nothing ran at all. */
  readonly lines: readonly string[];
}

/**
 * Adds up the tiers of a run. A breakage counts as one failed test, so that no crash can look like a success.
 * @param onlyWithAll what only `--all` would have run, one phrase each
 */
export function summarizeRun(
  outcomes: readonly TierOutcome[],
  onlyWithAll: readonly string[] = [],
): RunSummary {
  const sum = (pick: (outcome: TierOutcome) => number): number =>
    outcomes.reduce((total, each) => total + pick(each), 0);
  const passed = sum((outcome) => outcome.result?.passed ?? 0);
  const failed = sum(
    (outcome) => (outcome.result?.failures.length ?? 0) + (outcome.breakage === undefined ? 0 : 1),
  );
  const pending = sum((outcome) => outcome.result?.pending.length ?? 0);
  const lines: string[] = [];
  const leftOut = outcomes.flatMap(({ tier, leftOut: why, result }) => [
    ...(why === undefined ? [] : [`${tier}: ${why}`]),
    ...(result?.pending ?? []).map(({ title, reason }) => `${tier}: ${title}: ${reason}`),
  ]);
  for (const line of [...leftOut, ...onlyWithAll]) lines.push(`left out: ${line}`);
  for (const { tier, ran } of outcomes)
    if (ran !== undefined) lines.push(`ran from ${clock(ran.from)} to ${clock(ran.to)}: ${tier}`);
  for (const { tier, result } of outcomes)
    for (const { title, error } of result?.unstable ?? [])
      lines.push(`passed only when run again: ${tier}: ${title}: ${error}`);
  for (const { tier, result, breakage } of outcomes) {
    for (const { title, error } of result?.failures ?? []) lines.push(`failed: ${tier}: ${title}: ${error}`);
    if (breakage !== undefined) lines.push(`${tier} broke: ${breakage}`);
  }
  if (passed + failed + pending === 0) {
    return { passed, failed, exitCode: 2, lines: [...lines, "no test matches: nothing was run"] };
  }
  lines.push(`${passed} passed, ${failed} failed`);
  return { passed, failed, exitCode: failed === 0 ? 0 : 1, lines };
}

/** Formats seconds as minutes and seconds, "20:59". */
const clock = (seconds: number): string =>
  `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`;
