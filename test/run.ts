import { Argument, Command } from "commander";
import pc from "picocolors";
import { projectFolder } from "../sandbox/places";
import { summariseRun, type TierOutcome } from "./counting";
import { makeGround, clearGround } from "./ground";
import { runMocha } from "./mocha-process";
import { listTestFiles } from "./test-files";
import { TIERS, type Tier } from "./tiers";

interface RunOptions {
  readonly grep?: string;
  readonly all?: boolean;
}

const NIGHT_FACTOR = 8;

/** Runs one tier: its ground, its tests in a process of their own, and its clearing up. */
async function runTier(tier: Tier, options: RunOptions, signal: AbortSignal): Promise<TierOutcome> {
  const files = listTestFiles(projectFolder, tier.folders);
  if (files.length === 0) return { tier: tier.name, leftOut: "it has no tests yet" };
  console.log(pc.bold(`\n${tier.name}: ${tier.summary}`));
  try {
    await makeGround(tier.ground);
  } catch (error) {
    return {
      tier: tier.name,
      breakage: `set-up failed: ${error instanceof Error ? error.message : String(error)}`,
    };
  }
  const outcome = await runMocha({
    tier: tier.name,
    files,
    grep: options.grep,
    timeoutMilliseconds: tier.timeoutMilliseconds,
    limitSeconds: tier.limitSeconds * (options.all === true ? NIGHT_FACTOR : 1),
    environment: { ...process.env, ...(options.all === true ? { FORESAIL_TEST_ALL: "1" } : {}) },
    signal,
  });
  const leftRunning = await clearGround(tier.ground).catch((error: unknown) => [String(error)]);
  // a killed run cannot clear up after itself: only one that came to its end is to blame
  if (leftRunning.length === 0 || outcome.breakage !== undefined) return outcome;
  return { ...outcome, breakage: `its tests left running: ${leftRunning.join(", ")}` };
}

async function run(names: readonly string[], options: RunOptions): Promise<void> {
  const abort = new AbortController();
  process.on("SIGINT", () => abort.abort());
  process.on("SIGTERM", () => abort.abort());
  const chosen = TIERS.filter((tier) => names.length === 0 || names.includes(tier.name));
  const outcomes: TierOutcome[] = [];
  for (const tier of chosen) {
    const outcome: TierOutcome = abort.signal.aborted
      ? { tier: tier.name, breakage: "interrupted before it began" }
      : await runTier(tier, options, abort.signal);
    outcomes.push(outcome);
  }
  const nightRuns =
    options.all === true
      ? []
      : chosen.flatMap(({ name, night }) =>
          night === undefined ? [] : [`the night run, ${night}: npm run test:${name} -- --all`],
        );
  const { lines, exitCode } = summariseRun(outcomes, nightRuns);
  console.log("");
  for (const line of lines) console.log(line);
  process.exitCode = abort.signal.aborted ? 130 : exitCode;
}

const tierList = TIERS.map((tier) => `  ${tier.name.padEnd(8)}${tier.summary}`).join("\n");

new Command("npm test --")
  .description(
    `Runs the tests and ends with "N passed, N failed" over all of them.\n\nTiers, in this order:\n${tierList}`,
  )
  .addArgument(new Argument("[tier...]", "which tiers").choices(TIERS.map((tier) => tier.name)))
  .option("--grep <pattern>", "only tests whose whole title matches this regular expression")
  .option("--all", "the night run too")
  .exitOverride((end) => process.exit(end.exitCode === 0 ? 0 : 2))
  .action(run)
  .parseAsync()
  .catch((error: unknown) => {
    console.error(`npm test: ${error instanceof Error ? error.message : String(error)}`);
    process.exitCode = 2;
  });
