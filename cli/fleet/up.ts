import { mkdir } from "node:fs/promises";
import path from "node:path";
import { CommandError, EXIT, UsageError } from "../exit-codes";
import { plural } from "../../lib/text/plural";
import { findProject, type Project } from "../pulumi";
import { askPerson, onInterrupts, print } from "../terminal";
import { checkGate } from "./gates";
import { loadFleet, planFile, reviewOf, stacksOf } from "./load";
import type { Fleet } from "./plan/fleet";
import { NOTHING_DONE, type Progress, resumed } from "./plan/waves";
import { previewAll } from "./preview";
import {
  fleetFolder,
  lockFleet,
  processIdentity,
  readRun,
  type RunProcess,
  type RunRecord,
  stillRuns,
  writeRun,
} from "./run-file";
import { lastLines, startStackProcess, type StackProcess } from "./stack-process";
import { fleetTable } from "./table";
import { runWaves } from "./waves-runner";

export interface FleetUpOptions {
  readonly file?: string;
  /** A folder of `foresail fleet preview --save-plan`. */
  readonly plan?: string;
  /** Whether to go on with the last run. */
  readonly continue?: true;
  /** Waves whose gate a person approves. */
  readonly approve: readonly string[];
  readonly yes: boolean;
}

/** Runs the waves of a fleet, each stack bound to its plan. @returns the exit code */
export async function fleetUp(options: FleetUpOptions, say = print): Promise<number> {
  if (options.continue && options.plan !== undefined)
    throw new UsageError("give --plan or --continue: a run that is continued has its plans");
  const project = await findProject();
  const fleet = await loadFleet(project, options.file);
  const unknown = options.approve.find((name) => !fleet.waves.some((wave) => wave.name === name));
  if (unknown !== undefined) throw new UsageError(`there is no wave ${unknown} to approve`);
  const unlock = await lockFleet(project);
  try {
    const last = await readRun(project);
    refuseWhileRunning(last);
    const run = await beginRun(project, fleet, options, last, say);
    return typeof run === "number" ? run : await runStacks(project, fleet, run, options.approve, say);
  } finally {
    await unlock();
  }
}

function refuseWhileRunning(last: RunRecord | undefined): void {
  const [running] = Object.entries(last?.processes ?? {}).filter(([, process]) => stillRuns(process));
  if (running === undefined) return;
  throw new CommandError(
    "locked",
    `process ${running[1].pid} of a run that was killed still works on ${running[0]}; wait for its end, then run the same command`,
  );
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
      return { ...last, stacks: { ...stacks }, gates: { ...gates }, processes: {} };
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

async function runStacks(
  project: Project,
  fleet: Fleet,
  run: RunRecord,
  approved: readonly string[],
  say: (line: string) => void,
): Promise<number> {
  const logs = path.join(fleetFolder(project), "logs");
  await mkdir(logs, { recursive: true, mode: 0o700 });
  const running = new Map<string, StackProcess>();
  const stop = new AbortController();
  const forget = onInterrupts(() => {
    if (!stop.signal.aborted) say("interrupted: no further stack begins; those that run are asked to stop …");
    stop.abort();
    for (const { child } of running.values()) child.kill("SIGINT");
  });
  let progress: Progress = run;
  const save = async (next: Progress) => {
    progress = next;
    const processes: Record<string, RunProcess> = {};
    for (const [stack, { child }] of running) if (child.pid) processes[stack] = processIdentity(child.pid);
    await writeRun(project, { ...run, stacks: { ...next.stacks }, gates: { ...next.gates }, processes });
  };
  const stack = async (name: string) => {
    const log = path.join(logs, `${encodeURIComponent(name)}.log`);
    const args = ["up", "--stack", name, "--plan", planFile(run.plans, name)];
    const begun = performance.now();
    const started = startStackProcess(project.folder, args, log);
    running.set(name, started);
    say(`${name}: begins (${path.relative(project.folder, log)})`);
    const exitCode = await started.ended;
    running.delete(name);
    const seconds = Math.round((performance.now() - begun) / 1000);
    if (exitCode === EXIT.done) say(`${name}: done in ${seconds} s`);
    if (exitCode === EXIT.done) return "done" as const;
    const isPaused = exitCode === EXIT.paused || exitCode === EXIT.interrupted;
    const why = isPaused ? "interrupted" : "failed";
    say(
      [`${name}: ${why} after ${seconds} s (exit code ${exitCode})`, ...(await lastLines(log))].join(
        "\n    ",
      ),
    );
    return isPaused ? ("interrupted" as const) : ("failed" as const);
  };
  const gate = async (name: string) => {
    const found = fleet.waves.find((wave) => wave.name === name)?.gate;
    if (found === undefined) return "passed" as const;
    return checkGate(name, found, { folder: project.folder, approved, signal: stop.signal, say });
  };
  try {
    const end = await runWaves(fleet, run, { stack, gate, save }, stop.signal);
    for (const line of stateTable(fleet, progress)) say(line);
    const again = "continue with what is left of it: foresail fleet up --continue";
    if (end === "done") return EXIT.done;
    if (end === "waiting" && !stop.signal.aborted) return EXIT.paused;
    say(stop.signal.aborted ? again : `fix the cause, then ${again}`);
    return stop.signal.aborted ? EXIT.interrupted : EXIT.failed;
  } finally {
    forget();
  }
}

/** Returns the table of how far each stack is. */
export const stateTable = (fleet: Fleet, { stacks }: Progress): string[] =>
  fleetTable(fleet, "STATE", (name) => stacks[name] ?? "not begun");

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
