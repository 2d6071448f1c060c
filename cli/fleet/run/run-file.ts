import { createHash } from "node:crypto";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { z } from "zod";
import { parseJson } from "../../../lib/json";
import { isAlive, processPlace, readProcess } from "../../../lib/process/identity";
import { CommandError } from "../../terminal/exit-codes";
import { writePrivately } from "../../engine/private-file";
import type { Project } from "../../engine/pulumi";
import { GATE_PARTS } from "../plan/gate";
import type { History } from "../plan/timeline";

const Process = z.object({ pid: z.int().positive(), startTime: z.string(), place: z.string() });

/** A process of a run, so that a later run sees whether it still works. */
export type RunProcess = z.output<typeof Process>;

const RunFile = z.object({
  startedAt: z.string(),
  /** Identifies the waves and the plans. */
  review: z.string(),
  /** The folder of the plans. */
  plans: z.string(),
  stacks: z.record(z.string(), z.enum(["running", "done", "failed", "interrupted"])),
  gates: z.record(z.string(), z.enum(["running", "passed", "failed"])),
  /** The parts of gates that have passed. */
  gateParts: z.record(z.string(), z.array(z.enum(GATE_PARTS))).optional(),
  processes: z.record(z.string(), Process),
});

/** A run of `fleet up` as its file records it. */
export type RunRecord = z.output<typeof RunFile>;

/** Returns the folder in which the runs of a project leave their plans, logs and progress. */
export const fleetFolder = ({ folder }: Project): string => path.join(folder, ".foresail", "fleet");

/** Returns a run from its record; undefined when the record is not one of a run. */
export const parseRun = (value: unknown): RunRecord | undefined => RunFile.safeParse(value).data;

const runFile = (project: Project) => path.join(fleetFolder(project), "run.json");

/** Returns the last run; undefined when there was none. @throws Error when its file can't be read */
export async function readRun(project: Project): Promise<RunRecord | undefined> {
  const text = await readFile(runFile(project), "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw new Error(
      `${runFile(project)} can't be read (${error.code}), so it is not known whether a run is under way`,
    );
  });
  if (text === undefined) return undefined;
  const run = parseRun(parseJson(text));
  if (run === undefined)
    throw new Error(`${runFile(project)} is not the file of a run; delete it, and preview and review again`);
  return run;
}

export const writeRun = (project: Project, run: RunRecord): Promise<void> =>
  writePrivately(runFile(project), `${JSON.stringify(run, undefined, 2)}\n`);

const HistoryFile = z.record(
  z.string(),
  z.array(z.object({ seconds: z.number().nonnegative(), steps: z.number().nonnegative() })),
);

const historyFile = (project: Project) => path.join(fleetFolder(project), "history.json");

/** How many runs of a stack count for an estimate. */
const RUNS_KEPT = 10;

/** Returns how long the stacks took in earlier runs on this machine; nothing when that is not known. */
export async function readHistory(project: Project): Promise<History> {
  const text = await readFile(historyFile(project), "utf8").catch(() => "");
  return HistoryFile.safeParse(parseJson(text)).data ?? {};
}

/** Keeps how long stacks took, for the estimates of later previews. */
export async function addToHistory(project: Project, took: History): Promise<void> {
  const history = await readHistory(project);
  const names = new Set([...Object.keys(history), ...Object.keys(took)]);
  const runs = (name: string) => [...(history[name] ?? []), ...(took[name] ?? [])].slice(-RUNS_KEPT);
  const next = Object.fromEntries([...names].map((name) => [name, runs(name)]));
  await writePrivately(historyFile(project), `${JSON.stringify(next)}\n`);
}

/** Returns what identifies a review: the waves, and the plans of their stacks. */
export function reviewId(waves: unknown, plans: readonly string[]): string {
  return createHash("sha256")
    .update(JSON.stringify([waves, plans]))
    .digest("hex");
}

/** Returns the identity of a process of this machine. */
export const processIdentity = (pid: number): RunProcess => ({
  pid,
  startTime: readProcess(pid)?.startTime ?? "",
  place: processPlace(),
});

/** Returns whether a recorded process still runs; one of another machine or boot can't, as far as this one can see. */
export const stillRuns = (process: RunProcess): boolean =>
  process.place === processPlace() && isAlive(process);

/**
 * Takes the lock of the project's fleet; the lock of a dead process is replaced.
 *
 * @returns a function that releases it
 * @throws CommandError when another run has it
 */
export async function lockFleet(project: Project): Promise<() => Promise<void>> {
  const folder = fleetFolder(project);
  const file = path.join(folder, "lock.json");
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const own = JSON.stringify(processIdentity(process.pid));
  for (let attempt = 0; attempt < 2; attempt += 1) {
    try {
      await writeFile(file, own, { flag: "wx", mode: 0o600 });
      return () => rm(file, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
    const holder = Process.safeParse(parseJson(await readFile(file, "utf8").catch(() => ""))).data;
    const isHeld = holder !== undefined && (holder.place !== processPlace() || stillRuns(holder));
    if (isHeld)
      throw new CommandError(
        "locked",
        `another run of this fleet is active: process ${holder.pid} on ${holder.place.split(" ")[0]}\n` +
          `Wait for it to end. If it is certain that it no longer runs, delete ${file}`,
      );
    await rm(file, { force: true });
  }
  throw new CommandError("locked", "another run of this fleet began at the same time; run the command again");
}
