import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { TierOutcome } from "./counting";
import { LANE_VARIABLE } from "./lane";
import { type MochaRun, resultsFolder, runMocha } from "./mocha-process";

/** The outcome of one file. */
interface FileOutcome {
  /** Such as "engine/life". */
  readonly file: string;
  readonly outcome: TierOutcome;
}

/**
 * Runs every file in a process of its own, some of them at a time, in their order. What a file prints is shown when it has
 * ended. The limit is for all files together.
 * @param run.processes how many at a time
 * @param perform runs one file; for tests
 */
export async function runSideBySide(
  run: MochaRun & { readonly processes: number },
  perform: (run: MochaRun) => Promise<TierOutcome> = runMocha,
): Promise<TierOutcome> {
  const { tier, signal, processes } = run;
  const end = performance.now() + run.limitSeconds * 1000;
  const waiting = [...run.files];
  const outcomes: FileOutcome[] = [];
  const work = async (lane: number): Promise<void> => {
    const environment = { ...run.environment, [LANE_VARIABLE]: String(lane) };
    for (let compiled = waiting.shift(); compiled !== undefined; compiled = waiting.shift()) {
      const file = nameOf(compiled);
      if (signal.aborted) {
        outcomes.push({ file, outcome: { tier, breakage: "interrupted before it began" } });
        continue;
      }
      const from = performance.now();
      const name = file.replaceAll("/", "-");
      const listing = path.join(resultsFolder, `${name}.log`);
      const limitSeconds = Math.max(1, (end - from) / 1000);
      const outcome = await perform({ ...run, name, files: [compiled], environment, listing, limitSeconds });
      outcomes.push({ file, outcome });
      const seconds = Math.round((performance.now() - from) / 1000);
      show(`\n${file}, ${seconds} s\n${readFileSync(listing, "utf8")}`);
    }
  };
  const show = (words: string) => {
    if (run.listing === undefined) process.stdout.write(words);
    else appendFileSync(run.listing, words);
  };
  if (run.listing !== undefined) {
    mkdirSync(path.dirname(run.listing), { recursive: true });
    writeFileSync(run.listing, "");
  }
  await Promise.all(Array.from({ length: processes }, (_, index) => work(index + 1)));
  return combineOutcomes(tier, outcomes);
}

/** "engine/life" of "/clone/bin/test/engine/life.test.js". */
function nameOf(compiled: string): string {
  return path.relative(__dirname, compiled).replace(/\.test\.js$/, "");
}

/** One outcome for the files of a tier: what broke is said with its file, and is no success whatever the others did. */
export function combineOutcomes(tier: string, outcomes: readonly FileOutcome[]): TierOutcome {
  const results = outcomes.flatMap(({ outcome }) => outcome.result ?? []);
  const broken = outcomes.flatMap(({ file, outcome: { breakage } }) =>
    breakage === undefined ? [] : [`${file}: ${breakage}`],
  );
  const result = {
    passed: results.reduce((sum, { passed }) => sum + passed, 0),
    failures: results.flatMap(({ failures }) => failures),
    pending: results.flatMap(({ pending }) => pending),
  };
  return { tier, result, ...(broken.length > 0 && { breakage: broken.join("; ") }) };
}
