import { mkdir } from "node:fs/promises";
import path from "node:path";
import { waitUnless } from "../../../lib/abort";
import { CommandError, EXIT } from "../../terminal/exit-codes";
import type { Project } from "../../engine/pulumi";
import { onInterrupts } from "../../terminal/terminal";
import type { Fleet } from "../plan/fleet";
import type { GatePart } from "../plan/gate";
import type { Progress } from "../plan/waves";
import {
  fleetFolder,
  processIdentity,
  type RunProcess,
  type RunRecord,
  stillRuns,
  writeRun,
} from "./run-file";
import { logTail, startStackProcess, type StackProcess } from "./stack-process";
import { stateTable } from "./table";
import { type FleetWork, runWaves } from "./waves-runner";
import { windowsOf } from "./windows";

/** What a gate needs of the run. */
interface GateRun {
  readonly passed: readonly GatePart[];
  readonly keep: (part: GatePart) => Promise<void>;
  readonly signal: AbortSignal;
}

/** A run of the waves, each stack by a `foresail` of its own. */
interface StacksRun {
  readonly project: Project;
  readonly fleet: Fleet;
  readonly run: RunRecord;
  readonly argumentsOf: (stack: string) => readonly string[];
  readonly gate: (wave: string, of: GateRun) => ReturnType<FleetWork["gate"]>;
  /** Takes each progress. */
  readonly watch?: (progress: Progress) => void;
  /** Takes how long a stack took. */
  readonly took?: (stack: string, seconds: number) => void;
  /** What does the rest after a run that did not do everything. */
  readonly again: string;
  readonly say: (line: string) => void;
}

/** @throws CommandError while a stack's process of a run that was killed still works */
export function refuseWhileRunning(last: RunRecord | undefined): void {
  const [running] = Object.entries(last?.processes ?? {}).filter(([, process]) => stillRuns(process));
  if (running === undefined) return;
  throw new CommandError(
    "locked",
    `process ${running[1].pid} of a run that was killed still works on ${running[0]}; wait for its end, then run the same command`,
  );
}

/** Runs the stacks in their waves, and keeps the progress in the run's file. @returns the exit code */
export async function runStacks(options: StacksRun): Promise<number> {
  const { project, fleet, run, argumentsOf, again, say } = options;
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
  const parts: Record<string, GatePart[]> = { ...run.gateParts };
  let written = Promise.resolve();
  // one after the other: a gate's part may pass while the progress is written
  const write = () => (written = written.then(() => writeRun(project, recorded())));
  const recorded = (): RunRecord => {
    const processes: Record<string, RunProcess> = {};
    for (const [stack, { child }] of running) if (child.pid) processes[stack] = processIdentity(child.pid);
    const { stacks, gates } = progress;
    return { ...run, stacks: { ...stacks }, gates: { ...gates }, gateParts: parts, processes };
  };
  const save = (next: Progress) => {
    progress = next;
    options.watch?.(next);
    return write();
  };
  const stack = async (name: string) => {
    const log = path.join(logs, `${encodeURIComponent(name)}.log`);
    const begun = performance.now();
    const started = startStackProcess(project.folder, argumentsOf(name), log);
    running.set(name, started);
    say(`${name}: begins (${path.relative(project.folder, log)})`);
    const exitCode = await started.ended;
    running.delete(name);
    const seconds = Math.round((performance.now() - begun) / 1000);
    if (exitCode === EXIT.done) {
      say(`${name}: done in ${seconds} s`);
      options.took?.(name, seconds);
      return "done" as const;
    }
    const isPaused = exitCode === EXIT.paused || exitCode === EXIT.interrupted;
    const why = isPaused ? "interrupted" : "failed";
    const words = [`${name}: ${why} after ${seconds} s (exit code ${exitCode})`, ...(await logTail(log))];
    say(words.join("\n    "));
    return isPaused ? ("interrupted" as const) : ("failed" as const);
  };
  const gate = (wave: string) => {
    const passed = parts[wave] ?? [];
    const keep = (part: GatePart) => {
      parts[wave] = [...(parts[wave] ?? []), part];
      return write();
    };
    return options.gate(wave, { passed, keep, signal: stop.signal });
  };
  try {
    const windows = windowsOf(fleet, { again, say, wait: waitUnless(stop.signal) });
    const end = await runWaves(fleet, run, { stack, gate, save, ...windows }, stop.signal);
    for (const line of stateTable(fleet, progress)) say(line);
    if (end === "done") return EXIT.done;
    if (end === "waiting" && !stop.signal.aborted) return EXIT.paused;
    const next = `continue with what is left of it: ${again}`;
    say(stop.signal.aborted ? next : `fix the cause, then ${next}`);
    return stop.signal.aborted ? EXIT.interrupted : EXIT.failed;
  } finally {
    forget();
  }
}
