import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { TierOutcome } from "./counting";
import { LANE_VARIABLE } from "./lane";
import { type MochaRun, resultsFolder, runMocha } from "./mocha-process";
import { nameOf } from "./turns";

/** What one process runs. */
type Share = Pick<ShareOutcome, "name" | "files">;

/** The outcome of one process. */
interface ShareOutcome {
  /** Such as "engine/life", or "unit 3 of 12". */
  readonly name: string;
  readonly files: readonly string[];
  readonly lane: number;
  readonly outcome: TierOutcome;
}

/** With more failing files than this, the cause is hardly the machine's load, and none is run again. */
const MOST_REPEATED = 3;

/**
 * Runs every file, or every share of the files, in a process of its own, some of them at a time, in their order. What a
 * process prints is shown when it has ended. Those with failed tests run again, by themselves, once all have ended: failures
 * that don't recur are reported as unstable. The limit is for all together.
 * @param run.processes how many at a time
 * @param run.shares into how many shares the files are dealt
 * @param perform runs one process; for tests
 */
export async function runSideBySide(
  run: MochaRun & { readonly processes: number; readonly shares?: number | undefined },
  perform: (run: MochaRun) => Promise<TierOutcome> = runMocha,
): Promise<TierOutcome> {
  const { tier, signal, processes } = run;
  const end = performance.now() + run.limitSeconds * 1000;
  const waiting = sharesOf(run);
  const show = (words: string) => {
    if (run.listing === undefined) process.stdout.write(words);
    else appendFileSync(run.listing, words);
  };
  const performShare = async ({ name, files }: Share, lane: number): Promise<ShareOutcome> => {
    if (signal.aborted)
      return { name, files, lane, outcome: { tier, breakage: "interrupted before it began" } };
    const from = performance.now();
    const ofResult = name.replaceAll(/[/ ]/g, "-");
    const listing = path.join(resultsFolder, `${ofResult}.log`);
    const environment = { ...run.environment, [LANE_VARIABLE]: String(lane) };
    const limitSeconds = Math.max(1, (end - from) / 1000);
    const outcome = await perform({ ...run, name: ofResult, files, environment, listing, limitSeconds });
    const seconds = Math.round((performance.now() - from) / 1000);
    show(`\n${name}, ${seconds} s\n${readFileSync(listing, "utf8")}`);
    return { name, files, lane, outcome };
  };
  const outcomes: ShareOutcome[] = [];
  const work = async (lane: number): Promise<void> => {
    for (let share = waiting.shift(); share !== undefined; share = waiting.shift())
      outcomes.push(await performShare(share, lane));
  };
  if (run.listing !== undefined) {
    mkdirSync(path.dirname(run.listing), { recursive: true });
    writeFileSync(run.listing, "");
  }
  await Promise.all(Array.from({ length: processes }, (_, index) => work(index + 1)));
  const failed = outcomes.filter(mayRunAgain);
  if (failed.length <= MOST_REPEATED && !signal.aborted)
    for (const first of failed) {
      const again = await performShare(first, first.lane);
      outcomes[outcomes.indexOf(first)] = { ...again, outcome: withUnstable(again.outcome, first.outcome) };
    }
  return combineOutcomes(tier, outcomes);
}

/** Whether only tests failed: a crash or a process that would not end is never excused. */
function mayRunAgain({ outcome: { result, breakage } }: ShareOutcome): boolean {
  return breakage === undefined && (result?.failures.length ?? 0) > 0;
}

/** Deals the files of a tier one by one, so that neighbors, which take long together, are apart. */
function sharesOf({
  tier,
  files,
  shares,
}: {
  tier: string;
  files: readonly string[];
  shares?: number | undefined;
}): Share[] {
  if (shares === undefined) return files.map((file) => ({ name: nameOf(file), files: [file] }));
  return Array.from({ length: shares }, (_, share) => ({
    name: `${tier} ${share + 1} of ${shares}`,
    files: files.filter((_file, at) => at % shares === share),
  })).filter((share) => share.files.length > 0);
}

/** The second outcome of a file, with those failures of the first that did not recur. */
function withUnstable(again: TierOutcome, first: TierOutcome): TierOutcome {
  if (again.result === undefined) return again;
  const recurred = new Set(again.result.failures.map(({ title }) => title));
  const unstable = (first.result?.failures ?? []).filter(({ title }) => !recurred.has(title));
  return { ...again, result: { ...again.result, unstable } };
}

/** One outcome for the processes of a tier: what broke is said with its file, and is not success whatever the others did. */
export function combineOutcomes(
  tier: string,
  outcomes: readonly Pick<ShareOutcome, "name" | "outcome">[],
): TierOutcome {
  const results = outcomes.flatMap(({ outcome }) => outcome.result ?? []);
  const broken = outcomes.flatMap(({ name, outcome: { breakage } }) =>
    breakage === undefined ? [] : [`${name}: ${breakage}`],
  );
  const unstable = results.flatMap((result) => result.unstable ?? []);
  const result = {
    passed: results.reduce((sum, { passed }) => sum + passed, 0),
    failures: results.flatMap(({ failures }) => failures),
    pending: results.flatMap(({ pending }) => pending),
    ...(unstable.length > 0 && { unstable }),
  };
  return { tier, result, ...(broken.length > 0 && { breakage: broken.join("; ") }) };
}
