import path from "node:path";
import { plural } from "../../../lib/text/plural";
import { CommandError, EXIT, UsageError } from "../../terminal/exit-codes";
import { findProject, type Project } from "../../engine/pulumi";
import { askPerson, print } from "../../terminal/terminal";
import { loadFleet, loadFleetToShow, reviewOf } from "../files/load";
import { type Fleet, stacksOf } from "../plan/fleet";
import { keptParts } from "../plan/gate";
import { type FleetReview, REVIEW_FORMAT, stepsIn, writable } from "../plan/review";
import { NOTHING_DONE, resumed } from "../plan/waves";
import { withPolicyPack } from "../review/policy";
import { previewAll } from "./preview";
import { readReviewIfThere } from "../review/review";
import { addToHistory, fleetFolder, lockFleet, readRun, type RunRecord, stillRuns } from "../run/run-file";
import { type FleetRunner, localRunner } from "../run/runner";
import { portOf, servePage } from "../review/serve";
import { stateTable } from "../run/table";
import { type RunnerName, runnerOf } from "../temporal/server";

export interface FleetUpOptions {
  readonly file?: string;
  /** A folder of `foresail fleet preview --save-plan`. */
  readonly plan?: string;
  /** Whether to go on with the last run. */
  readonly continue?: true;
  /** Waves whose gate a person approves. */
  readonly approve: readonly string[];
  readonly yes: boolean;
  /** The port on which the run is shown while it runs; true for any that is free. */
  readonly serve?: string | true;
  /** What carries out the waves; default: what fleet.yaml says. */
  readonly runner?: RunnerName;
  /** The policy pack for this machine's previews; default: what fleet.yaml says. */
  readonly policyPack?: string;
}

/** Runs the waves of a fleet, each stack bound to its plan. @returns the exit code */
export async function fleetUp(options: FleetUpOptions, say = print): Promise<number> {
  if (options.continue && options.plan !== undefined)
    throw new UsageError("give --plan or --continue: a run that is continued has its plans");
  if (options.policyPack !== undefined && (options.continue || options.plan !== undefined))
    throw new UsageError(
      "--policy-pack checks previews: give it to `foresail fleet preview`, which makes the plans",
    );
  const port = options.serve === undefined ? undefined : portOf(options.serve);
  const project = await findProject();
  const loaded = await loadFleet(project, options.file);
  const runnerName = runnerOf(loaded, options.runner);
  const fleet = withPolicyPack(loaded, options.policyPack, runnerName);
  const unknown = options.approve.find((name) => !fleet.waves.some((wave) => wave.name === name));
  if (unknown !== undefined) throw new UsageError(`there is no wave ${unknown} to approve`);
  const unlock = await lockFleet(project);
  try {
    const context = { project, fleet, file: options.file, approved: options.approve, say };
    const runner =
      runnerName === "local"
        ? await localRunner(context)
        : await (await import("../temporal/runner.js")).serverRunner(context);
    try {
      const run = await beginRun(project, fleet, options, runner, say);
      return typeof run === "number" ? run : await runUp(project, fleet, run, { runner, port }, say);
    } finally {
      await runner.close();
    }
  } finally {
    await unlock();
  }
}

/** Returns the run to do, with what is done of it; an exit code when there is none. */
async function beginRun(
  project: Project,
  fleet: Fleet,
  options: FleetUpOptions,
  { last, isOpen, preview }: FleetRunner,
  say: (line: string) => void,
): Promise<RunRecord | number> {
  const again = (plans: string, review: string): RunRecord => ({
    startedAt: new Date().toISOString(),
    review,
    plans,
    processes: {},
    ...(NOTHING_DONE as { stacks: RunRecord["stacks"]; gates: RunRecord["gates"] }),
  });
  const own = path.join(fleetFolder(project), "plans");
  if (options.continue || options.plan !== undefined) {
    const plans = path.resolve(options.plan ?? last?.plans ?? own);
    if (options.continue && last === undefined) throw new UsageError("there is no run to continue");
    if (options.continue && isOpen && last !== undefined) return joined(last, say);
    const review = await reviewOf(fleet, plans);
    if (last?.review === review) {
      if (isOpen) return joined({ ...last, plans }, say);
      const { stacks, gates } = resumed(last);
      const done = Object.keys(stacks).length;
      say(
        `continuing the run of ${last.startedAt}: ${done} of ${plural(stacksOf(fleet).length, "stack")} done`,
      );
      const gateParts = keptParts(fleet, { stacks, gates }, last.gateParts ?? {}) as RunRecord["gateParts"];
      return { ...last, plans, stacks: { ...stacks }, gates: { ...gates }, gateParts, processes: {} };
    }
    if (options.continue)
      throw new CommandError(
        "changed",
        "the waves or plans are not those of the last run; preview and review again",
      );
    if (isOpen) throw openRun();
    return again(plans, review);
  }
  if (isOpen) throw openRun();
  const end = await previewAll(project, fleet, own, say, preview);
  if (end !== "done") {
    say("nothing was changed");
    return EXIT[end];
  }
  const answer = options.yes ? true : await askPerson("Do this? [y/N] ");
  if (answer === true) return again(own, await reviewOf(fleet, own));
  say(`nothing was changed${answer === undefined ? ": without a terminal, give --plan or --yes" : ""}`);
  return answer === undefined ? EXIT.usage : EXIT.declined;
}

const openRun = () =>
  new CommandError(
    "locked",
    "a run of this fleet is open in Temporal; to join it: foresail fleet up --continue",
  );

function joined(run: RunRecord, say: (line: string) => void): RunRecord {
  say(`joining the run of ${run.startedAt}`);
  return run;
}

async function runUp(
  project: Project,
  fleet: Fleet,
  run: RunRecord,
  { runner, port }: { runner: FleetRunner; port: number | undefined },
  say: (line: string) => void,
): Promise<number> {
  const review = await readReviewIfThere(run.plans);
  const took: Record<string, { seconds: number; steps: number }[]> = {};
  const page =
    port === undefined ? undefined : await servePage(review ?? withoutReview(project, fleet, run), run, port);
  if (page !== undefined) say(`the run is shown at ${page.url}`);
  try {
    return await runner.run(run, {
      watch: (progress) => page?.show(progress),
      took: (stack, seconds) => (took[stack] = [{ seconds, steps: stepsIn(review?.stacks[stack]) }]),
    });
  } finally {
    await page?.close();
    await addToHistory(project, took);
  }
}

/** Returns what a page shows of plans whose preview left no review. */
const withoutReview = (project: Project, fleet: Fleet, { startedAt }: RunRecord): FleetReview => ({
  formatVersion: REVIEW_FORMAT,
  project: project.name,
  previewedAt: startedAt,
  fleet: writable(fleet),
  stacks: {},
});

export interface FleetStatusOptions {
  readonly file?: string;
  readonly runner?: RunnerName;
}

/** Prints how far the last run is; reads only its file, or asks the Temporal server that runs it. */
export async function fleetStatus({ file, runner: given }: FleetStatusOptions, say = print): Promise<number> {
  const project = await findProject();
  const fleet = await loadFleetToShow(project, file);
  if (runnerOf(fleet, given) === "temporal")
    return (await import("../temporal/status.js")).serverStatus(project, fleet, say);
  const run = await readRun(project);
  if (run === undefined) {
    say("there was no run of this fleet");
    return EXIT.done;
  }
  const works = (name: string) => run.processes[name] !== undefined && stillRuns(run.processes[name]);
  const stacks = Object.fromEntries(
    Object.entries(run.stacks).map(([name, state]) => [
      name,
      state === "running" && !works(name) ? ("interrupted" as const) : state,
    ]),
  );
  say(`the run of ${run.startedAt}`);
  for (const line of stateTable(fleet, { ...run, stacks })) say(line);
  return EXIT.done;
}
