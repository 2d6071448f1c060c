import path from "node:path";
import { withPrivateFolder } from "../../engine/private-file";
import type { Project } from "../../engine/pulumi";
import { onInterrupts } from "../../terminal/terminal";
import { type Fleet, stacksOf } from "../plan/fleet";
import { NOTHING_DONE } from "../plan/waves";
import { startStackProcess, type StackProcess } from "./stack-process";
import { runWaves } from "./waves-runner";

type EachEnd = "done" | "failed" | "interrupted";

/** A run of foresail that changes nothing; what it prints is in files until it was read, the errors in the log. */
interface StackReading<Found> {
  readonly argumentsOf: (stack: string) => readonly string[];
  readonly read: (exitCode: number, files: { output: string; log: string }, stack: string) => Promise<Found>;
}

/** Runs foresail for all stacks, at most `maxParallel` at once, whatever the end of others; an interrupt ends it. */
export async function readEachStack<Found>(
  project: Project,
  fleet: Fleet,
  { argumentsOf, read }: StackReading<Found>,
): Promise<{ end: EachEnd; found: ReadonlyMap<string, Found> }> {
  const found = new Map<string, Found>();
  const running = new Set<StackProcess>();
  const end = await withPrivateFolder((folder) =>
    forEachStack(
      fleet,
      async (stack) => {
        const file = (end: string) => path.join(folder, `${encodeURIComponent(stack)}.${end}`);
        const [output, log] = [file("json"), file("log")];
        const started = startStackProcess(project.folder, argumentsOf(stack), log, output);
        running.add(started);
        const exitCode = await started.ended;
        running.delete(started);
        found.set(stack, await read(exitCode, { output, log }, stack));
        return exitCode === 0;
      },
      () => running.forEach(({ child }) => child.kill("SIGINT")),
    ),
  );
  return { end, found };
}

/** Does work for all stacks, at most `maxParallel` at once, whatever the end of others; an interrupt begins no more. */
export async function forEachStack(
  fleet: Fleet,
  work: (stack: string) => Promise<boolean>,
  interrupted: () => void = () => undefined,
): Promise<EachEnd> {
  const stop = new AbortController();
  const forget = onInterrupts(() => {
    stop.abort();
    interrupted();
  });
  try {
    const all = {
      ...fleet,
      onFailure: "continue" as const,
      waves: [{ name: "all", stacks: stacksOf(fleet) }],
    };
    const stack = async (name: string) => ((await work(name)) ? ("done" as const) : ("failed" as const));
    const end = await runWaves(
      all,
      NOTHING_DONE,
      { stack, gate: () => Promise.resolve("passed"), save: () => Promise.resolve() },
      stop.signal,
    );
    return stop.signal.aborted ? "interrupted" : end === "done" ? "done" : "failed";
  } finally {
    forget();
  }
}
