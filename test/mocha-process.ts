import { spawn } from "node:child_process";
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import type { SuiteResult, TierOutcome } from "./counting";
import { projectFolder } from "../sandbox/paths";

/** One mocha process to run. */
export interface MochaRun {
  readonly tier: string;
  /** Of its result's file; default: the tier's. */
  readonly name?: string;
  /** Compiled test files. */
  readonly files: readonly string[];
  readonly grep?: string | undefined;
  readonly timeoutMilliseconds: number;
  /** After this the whole process group is killed. */
  readonly limitSeconds: number;
  readonly environment: NodeJS.ProcessEnv;
  /** File that takes the listing, when it is not for this terminal yet. */
  readonly listing?: string | undefined;
  /** Interrupts the run when aborted. */
  readonly signal: AbortSignal;
}

/** A process that has written its result has this long to end; then something it started keeps it alive. */
export const SECONDS_TO_END = 30;
/** After an interrupt mocha finishes the test that runs; then it is killed. */
const SECONDS_AFTER_INTERRUPT = 60;

/** Folder of the tiers' results. */
export const resultsFolder = path.join(projectFolder, ".sandbox", "test-results");

/** Runs mocha on the files in a process group of its own; the listing goes to this terminal, or into a file. */
export async function runMocha(run: MochaRun): Promise<TierOutcome> {
  const output = path.join(resultsFolder, `${run.name ?? run.tier}.json`);
  mkdirSync(resultsFolder, { recursive: true });
  const listing = run.listing === undefined ? undefined : openSync(run.listing, "w");
  rmSync(output, { force: true });
  const child = spawn(
    process.execPath,
    [
      require.resolve("mocha/bin/mocha.js"),
      ...["--reporter", path.join(__dirname, "reporter.js"), "--reporter-option", `output=${output}`],
      ...["--timeout", String(run.timeoutMilliseconds)],
      ...(run.grep === undefined ? [] : ["--grep", run.grep]),
      ...run.files,
    ],
    {
      cwd: projectFolder,
      env: run.environment,
      stdio: ["ignore", listing ?? "inherit", listing ?? "inherit"],
      detached: true,
    },
  );
  if (listing !== undefined) closeSync(listing);
  let killedBecause: string | undefined;
  const kill = (signal: NodeJS.Signals, because?: string): void => {
    killedBecause ??= because;
    // the group: a test's own children are killed with it
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, signal);
  };
  const timers = [
    setTimeout(() => kill("SIGKILL", `it did not end within ${run.limitSeconds} s`), run.limitSeconds * 1000),
  ];
  const watchForEnd = setInterval(() => {
    if (!existsSync(output)) return;
    clearInterval(watchForEnd);
    const because = () =>
      `the process did not end ${SECONDS_TO_END} s after its last test: a test left something running ` +
      `(${readResult(output)?.active?.join(", ")})`;
    timers.push(setTimeout(() => kill("SIGKILL", because()), SECONDS_TO_END * 1000));
  }, 500);
  const interrupt = (): void => {
    killedBecause = "interrupted";
    if (child.pid !== undefined) child.kill("SIGINT");
    timers.push(setTimeout(() => kill("SIGKILL"), SECONDS_AFTER_INTERRUPT * 1000));
  };
  run.signal.addEventListener("abort", interrupt, { once: true });
  try {
    const ending = await new Promise<string | undefined>((resolve) => {
      child.once("error", (error) => resolve(`mocha could not be started: ${error.message}`));
      child.once("exit", (code, signal) =>
        resolve(signal === null ? `exit code ${code}` : `signal ${signal}`),
      );
    });
    const result = readResult(output);
    return judgeEnding(run.tier, result, ending, killedBecause);
  } finally {
    clearInterval(watchForEnd);
    timers.forEach(clearTimeout);
    run.signal.removeEventListener("abort", interrupt);
  }
}

/** Decides what the end of a mocha process means. */
export function judgeEnding(
  tier: string,
  result: SuiteResult | undefined,
  ending: string | undefined,
  killedBecause?: string,
): TierOutcome {
  const base = result === undefined ? { tier } : { tier, result };
  if (killedBecause !== undefined) return { ...base, breakage: killedBecause };
  if (result === undefined) return { tier, breakage: `mocha ended before its tests did (${ending})` };
  if (result.failures.length === 0 && ending !== "exit code 0")
    return { ...base, breakage: `mocha ended with ${ending}` };
  return base;
}

function readResult(file: string): SuiteResult | undefined {
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as SuiteResult) : undefined;
}
