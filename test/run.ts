import { Argument, Command, Option } from "commander";
import { readFile } from "node:fs/promises";
import path from "node:path";
import pc from "picocolors";
import { projectFolder } from "../sandbox/paths";
import { summarizeRun, type TierOutcome } from "./counting";
import { makeFixture, clearFixture } from "./fixture";
import { resultsFolder, runMocha } from "./mocha-process";
import { runSideBySide } from "./side-by-side";
import { listTestFiles } from "./test-files";
import { mayStart, TIERS, type Tier } from "./tiers";
import { filesInTurn, TURNS, turnOf } from "./turns";

interface RunOptions {
  readonly grep?: string;
  readonly all?: boolean;
  readonly turn: number;
}

const NIGHT_FACTOR = 8;

/** Sets up what a tier needs. @returns its outcome, when it has one without running */
async function prepareTier(tier: Tier, options: RunOptions): Promise<TierOutcome | undefined> {
  if (filesOf(tier, options).length === 0)
    return { tier: tier.name, leftOut: `its files don't run in turn ${options.turn}` };
  try {
    await makeFixture(tier);
    return undefined;
  } catch (error) {
    const words = error instanceof Error ? error.message : String(error);
    return { tier: tier.name, breakage: `setup failed: ${words}` };
  }
}

/** Runs the tests of a tier in processes of their own, and cleans up after them. */
async function performTier(
  tier: Tier,
  options: RunOptions,
  { signal, listing }: { signal: AbortSignal; listing?: string },
): Promise<TierOutcome> {
  const run = {
    tier: tier.name,
    files: filesOf(tier, options),
    grep: options.grep,
    timeoutMilliseconds: tier.timeoutMilliseconds,
    limitSeconds: tier.limitSeconds * (options.all === true ? NIGHT_FACTOR : 1),
    environment: { ...process.env, ...(options.all === true ? { FORESAIL_TEST_ALL: "1" } : {}) },
    listing,
    signal,
  };
  const { processes, shares } = tier;
  // a part of a tier is soon done, and is shown as it goes; the night has time
  const isOneProcess = processes === undefined || options.grep !== undefined || options.all === true;
  const outcome = isOneProcess ? await runMocha(run) : await runSideBySide({ ...run, processes, shares });
  const leftRunning = await clearFixture(tier).catch((error: unknown) => [String(error)]);
  // a killed run can't clean up after itself: only a completed one is at fault
  if (leftRunning.length === 0 || outcome.breakage !== undefined) return outcome;
  return { ...outcome, breakage: `its tests left running: ${leftRunning.join(", ")}` };
}

const allFilesOf = (tier: Tier): string[] => listTestFiles(projectFolder, tier.folders);

/** A person who names tests gets them on every day. */
const filesOf = (tier: Tier, { all, grep, turn }: RunOptions): string[] =>
  all === true || grep !== undefined ? allFilesOf(tier) : filesInTurn(allFilesOf(tier), turn).files;

/** Says which files wait for another turn, and how to run them. */
function waitingFor(tiers: readonly Tier[], { turn }: RunOptions): string[] {
  const waiting = tiers.flatMap((tier) => filesInTurn(allFilesOf(tier), turn).waiting);
  const others = TURNS.map((_names, at) => at + 1).filter((each) => each !== turn);
  return waiting.length === 0
    ? []
    : [`this is turn ${turn}; npm test -- --turn ${others.join(" or ")} has ${waiting.join(", ")}`];
}

const heading = ({ name, summary }: Tier): string => pc.bold(`\n${name}: ${summary}`);

/**
 * Runs each tier as soon as the machine has room for it; of several, the first. One at a time prints as it goes; what the
 * others print is shown when they have ended and the terminal is free.
 */
async function runTiers(
  tiers: readonly Tier[],
  options: RunOptions,
  signal: AbortSignal,
): Promise<TierOutcome[]> {
  const running = new Map<Tier, Promise<void>>();
  const outcomes = new Map<Tier, TierOutcome>();
  const unseen: Tier[] = [];
  let onTerminal: Tier | undefined;
  const listingOf = ({ name }: Tier) => path.join(resultsFolder, `${name}.log`);
  const showUnseen = async () => {
    for (const tier of unseen.splice(0)) {
      console.log(heading(tier));
      console.log(await readFile(listingOf(tier), "utf8"));
    }
  };
  const perform = async (tier: Tier, listing: string | undefined) => {
    const from = performance.now() / 1000;
    const outcome = await performTier(tier, options, { signal, ...(listing && { listing }) });
    outcomes.set(tier, { ...outcome, ran: { from, to: performance.now() / 1000 } });
    running.delete(tier);
    if (listing !== undefined) unseen.push(tier);
    else onTerminal = undefined;
    if (onTerminal === undefined) await showUnseen();
  };
  const waiting = new Set(tiers);
  while (waiting.size > 0) {
    const tier = [...waiting].find((each) => mayStart(each, [...running.keys()]));
    if (tier === undefined) {
      await Promise.race(running.values());
      continue;
    }
    waiting.delete(tier);
    const early = signal.aborted
      ? { tier: tier.name, breakage: "interrupted before it began" }
      : await prepareTier(tier, options);
    if (early !== undefined) {
      outcomes.set(tier, early);
      continue;
    }
    const listing = onTerminal === undefined ? undefined : listingOf(tier);
    if (listing === undefined) {
      onTerminal = tier;
      console.log(heading(tier));
    }
    running.set(tier, perform(tier, listing));
  }
  await Promise.all(running.values());
  await showUnseen();
  return tiers.flatMap((tier) => outcomes.get(tier) ?? []);
}

async function run(names: readonly string[], options: RunOptions): Promise<void> {
  const abort = new AbortController();
  process.on("SIGINT", () => abort.abort());
  process.on("SIGTERM", () => abort.abort());
  const chosen = TIERS.filter((tier) => names.length === 0 || names.includes(tier.name));
  const outcomes = await runTiers(chosen, options, abort.signal);
  const onlyWithAll =
    options.all === true
      ? []
      : chosen.flatMap(({ name, night }) =>
          night === undefined ? [] : [`the nightly run, ${night}: npm run test:${name} -- --all`],
        );
  const left = options.all === true || options.grep !== undefined ? [] : waitingFor(chosen, options);
  const { lines, exitCode } = summarizeRun(outcomes, [...onlyWithAll, ...left]);
  console.log("");
  for (const line of lines) console.log(line);
  process.exitCode = abort.signal.aborted ? 130 : exitCode;
}

const tierList = TIERS.map((tier) => `  ${tier.name.padEnd(12)}${tier.summary}`).join("\n");

new Command("npm test --")
  .description(
    `Runs the tests and ends with "N passed, N failed" over all of them.\n\nTiers, in this order:\n${tierList}`,
  )
  .addArgument(new Argument("[tier...]", "which tiers").choices(TIERS.map((tier) => tier.name)))
  .option("--grep <pattern>", "only tests whose whole title matches this regular expression")
  .option("--all", "the nightly run, too")
  .addOption(
    new Option("--turn <number>", "which files of those that run on one day of six")
      .choices(TURNS.map((_names, at) => String(at + 1)))
      .default(turnOf(new Date()), "by the date"),
  )
  .exitOverride((end) => process.exit(end.exitCode === 0 ? 0 : 2))
  .action((names: string[], options: RunOptions) => run(names, { ...options, turn: Number(options.turn) }))
  .parseAsync()
  .catch((error: unknown) => {
    console.error(`npm test: ${error instanceof Error ? error.message : String(error)}`);
    process.exitCode = 2;
  });
