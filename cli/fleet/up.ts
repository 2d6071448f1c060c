import path from "node:path";
import { plural } from "../../lib/text/plural";
import { CommandError, EXIT, UsageError } from "../exit-codes";
import { findProject, type Project } from "../pulumi";
import { askPerson, print } from "../terminal";
import { checkGate } from "./gates";
import { loadFleet, planFile, reviewOf } from "./load";
import { type Fleet, stacksOf } from "./plan/fleet";
import { keptParts } from "./plan/gate";
import { type FleetReview, REVIEW_FORMAT, stepsIn, writable } from "./plan/review";
import { NOTHING_DONE, resumed } from "./plan/waves";
import { previewAll } from "./preview";
import { readReviewIfThere } from "./review";
import { addToHistory, fleetFolder, lockFleet, readRun, type RunRecord, stillRuns } from "./run-file";
import { refuseWhileRunning, runStacks } from "./run-stacks";
import { portOf, servePage } from "./serve";
import { stateTable } from "./table";

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
}

/** Runs the waves of a fleet, each stack bound to its plan. @returns the exit code */
export async function fleetUp(options: FleetUpOptions, say = print): Promise<number> {
  if (options.continue && options.plan !== undefined)
    throw new UsageError("give --plan or --continue: a run that is continued has its plans");
  const port = options.serve === undefined ? undefined : portOf(options.serve);
  const project = await findProject();
  const fleet = await loadFleet(project, options.file);
  const unknown = options.approve.find((name) => !fleet.waves.some((wave) => wave.name === name));
  if (unknown !== undefined) throw new UsageError(`there is no wave ${unknown} to approve`);
  const unlock = await lockFleet(project);
  try {
    const last = await readRun(project);
    refuseWhileRunning(last);
    const run = await beginRun(project, fleet, options, last, say);
    return typeof run === "number" ? run : await runUp(project, fleet, run, { ...options, port }, say);
  } finally {
    await unlock();
  }
}

/** Returns the run to do, with what is done of it; an exit code when there is none. */
async function beginRun(
  project: Project,
  fleet: Fleet,
  options: FleetUpOptions,
  last: RunRecord | undefined,
  say: (line: string) => void,
): Promise<RunRecord | number> {
  const anew = (plans: string, review: string): RunRecord => ({
    ...{ startedAt: new Date().toISOString(), review, plans, processes: {} },
    ...(NOTHING_DONE as { stacks: RunRecord["stacks"]; gates: RunRecord["gates"] }),
  });
  const own = path.join(fleetFolder(project), "plans");
  if (options.continue || options.plan !== undefined) {
    const plans = path.resolve(options.plan ?? last?.plans ?? own);
    if (options.continue && last === undefined) throw new UsageError("there is no run to continue");
    const review = await reviewOf(fleet, plans);
    if (last?.review === review) {
      const { stacks, gates } = resumed(last);
      const done = Object.keys(stacks).length;
      say(
        `continuing the run of ${last.startedAt}: ${done} of ${plural(stacksOf(fleet).length, "stack")} done`,
      );
      const gateParts = keptParts(fleet, { stacks, gates }, last.gateParts ?? {}) as RunRecord["gateParts"];
      return { ...last, stacks: { ...stacks }, gates: { ...gates }, gateParts, processes: {} };
    }
    if (options.continue)
      throw new CommandError(
        "changed",
        "the waves or plans are not those of the last run; preview and review again",
      );
    return anew(plans, review);
  }
  const end = await previewAll(project, fleet, own, say);
  if (end !== "done") {
    say("nothing was changed");
    return EXIT[end];
  }
  const answer = options.yes ? true : await askPerson("Do this? [y/N] ");
  if (answer === true) return anew(own, await reviewOf(fleet, own));
  say(`nothing was changed${answer === undefined ? ": without a terminal, give --plan or --yes" : ""}`);
  return answer === undefined ? EXIT.usage : EXIT.declined;
}

async function runUp(
  project: Project,
  fleet: Fleet,
  run: RunRecord,
  { approve: approved, port }: FleetUpOptions & { port: number | undefined },
  say: (line: string) => void,
): Promise<number> {
  const gate: Parameters<typeof runStacks>[0]["gate"] = async (name, of) => {
    const wave = fleet.waves.find((one) => one.name === name);
    return wave === undefined ? "passed" : checkGate(wave, { ...of, project, approved, say });
  };
  const argumentsOf = (stack: string) => ["up", "--stack", stack, "--plan", planFile(run.plans, stack)];
  const review = await readReviewIfThere(run.plans);
  const took: Record<string, { seconds: number; steps: number }[]> = {};
  const page =
    port === undefined ? undefined : await servePage(review ?? withoutReview(project, fleet, run), run, port);
  if (page !== undefined) say(`the run is shown at ${page.url}`);
  try {
    return await runStacks({
      ...{ project, fleet, run, argumentsOf, gate, again: "foresail fleet up --continue", say },
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
  ...{ formatVersion: REVIEW_FORMAT, project: project.name, previewedAt: startedAt },
  ...{ fleet: writable(fleet), stacks: {} },
});

/** Prints how far the last run is; reads only its file. */
export async function fleetStatus({ file }: { file?: string }, say = print): Promise<number> {
  const project = await findProject();
  const run = await readRun(project);
  if (run === undefined) {
    say("there was no run of this fleet");
    return EXIT.done;
  }
  const fleet = await loadFleet(project, file);
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
