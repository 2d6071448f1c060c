import { mkdir, readFile, rm } from "node:fs/promises";
import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { ApplicationFailure, Context } from "@temporalio/activity";
import { messageOf } from "../../../lib/error-message";
import { parseJson } from "../../../lib/json";
import { displayLine } from "../../../lib/text/display";
import { quoted } from "../../../lib/text/quote";
import { EXIT } from "../../exit-codes";
import { withPrivateFolder, writePrivately } from "../../private-file";
import type { PolicyOptions } from "../../policy-call";
import type { Project } from "../../pulumi";
import { checkPart } from "../gates";
import { planFile, readIfThere } from "../load";
import { type Fleet, stacksOf } from "../plan/fleet";
import { failedReview } from "../plan/review";
import { LOCKED_FAILURE, type Regions } from "../plan/temporal";
import { policyOf } from "../policy";
import { previewArguments, reviewOfFiles } from "../preview";
import { fleetFolder, processIdentity, type RunProcess, stillRuns } from "../run-file";
import { lastLines, startStackProcess } from "../stack-process";
import type { FleetActivities, StackOutcome } from "./messages";
import { pack, unpack } from "./packed";

const HEARTBEAT_MILLISECONDS = 3_000;
const LOOK_AGAIN_MILLISECONDS = 500;
/** How often a stack with the lock of another process is tried, up to a minute apart: for about 15 minutes. */
const MOST_ATTEMPTS = 20;

interface WorkerContext {
  readonly project: Project;
  readonly region: string;
  /** Reads the waves of this worker's own checkout, and the regions of their stacks. */
  readonly load: () => Promise<{ fleet: Fleet; regions: Regions }>;
}

/**
 * Returns what a worker does for the stacks of its region. It takes nothing but names and plans from the server: commands,
 * addresses and configuration are those of its own checkout, and secrets those of its own environment.
 */
export function activitiesOf({ project, region, load }: WorkerContext): FleetActivities {
  /** @throws Error when this checkout does not have the stacks in this region */
  const fleetWith = async (stacks: readonly string[]): Promise<Fleet> => {
    const { fleet, regions } = await load();
    const other = stacks.find((stack) => !stacksOf(fleet).includes(stack) || regions[stack] !== region);
    if (other === undefined) return fleet;
    throw new Error(
      `the checkout of the worker in ${region} has no stack ${quoted(other)} in this region; update it`,
    );
  };
  return {
    preview: ({ stack }) =>
      whileAlive(async (signal) => {
        try {
          const policy = policyOf(project, await fleetWith([stack]), stack);
          return await previewOf(project, { stack, policy }, signal);
        } catch (error) {
          return { review: failedReview([wordsOf(error)]) };
        }
      }),
    up: ({ run, stack, plan }) =>
      whileAlive(async (signal) => {
        try {
          await fleetWith([stack]);
          return await upOf(project, { run, stack, plan: unpack(plan) }, signal);
        } catch (error) {
          if (error instanceof ApplicationFailure) throw error;
          return { state: "failed", words: [wordsOf(error)] };
        }
      }),
    gate: ({ wave: name, part, stacks }) =>
      whileAlive(async (signal) => {
        try {
          const fleet = await fleetWith(stacks);
          const wave = fleet.waves.find((one) => one.name === name);
          if (wave?.gate === undefined)
            throw new Error(
              `the checkout of the worker in ${region} has no gate of ${quoted(name)}; update it`,
            );
          await checkPart({ ...wave, stacks }, part, { project, signal });
          return undefined;
        } catch (error) {
          throwIfShutDown(signal);
          return wordsOf(error);
        }
      }),
  };
}

const wordsOf = (error: unknown) => displayLine(messageOf(error));

/** Tells the server while the work goes on, so that it notices when this worker has died. */
async function whileAlive<Result>(work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
  const context = Context.current();
  context.heartbeat();
  const timer = setInterval(() => context.heartbeat(), HEARTBEAT_MILLISECONDS);
  try {
    return await work(context.cancellationSignal);
  } finally {
    clearInterval(timer);
  }
}

/** @throws ApplicationFailure when this worker ends, so that another one does the rest */
function throwIfShutDown(signal: AbortSignal): void {
  if (signal.aborted && Context.current().cancellationDetails?.workerShutdown)
    throw ApplicationFailure.retryable("the worker was stopped", "WorkerStopped");
}

async function previewOf(
  project: Project,
  { stack, policy }: { stack: string; policy: PolicyOptions },
  signal: AbortSignal,
) {
  return withPrivateFolder(async (folder) => {
    const [json, log] = [path.join(folder, "review.json"), path.join(folder, "log")];
    const started = startStackProcess(
      project.folder,
      previewArguments(stack, planFile(folder, stack), json, policy),
      log,
    );
    const stop = () => void started.child.kill("SIGINT");
    signal.addEventListener("abort", stop);
    const exitCode = await started.ended;
    signal.removeEventListener("abort", stop);
    throwIfShutDown(signal);
    const plan = exitCode === EXIT.done ? await readIfThere(planFile(folder, stack)) : undefined;
    const review = reviewOfFiles(await readIfThere(json), plan, await lastLines(log));
    return { review, ...(plan !== undefined && { plan: pack(stack, plan) }) };
  });
}

/** Changes a stack as its plan says; a process that an earlier worker on this machine left is awaited first. */
async function upOf(
  project: Project,
  { run, stack, plan }: { run: string; stack: string; plan: string },
  signal: AbortSignal,
): Promise<StackOutcome> {
  const folder = path.join(fleetFolder(project), "worker", encodeURIComponent(run));
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const at = (end: string) => path.join(folder, `${encodeURIComponent(stack)}.${end}`);
  await untilEnded(await readProcess(at("process")), signal);
  await writePrivately(at("plan"), plan);
  const started = startStackProcess(
    project.folder,
    ["up", "--stack", stack, "--plan", at("plan")],
    at("log"),
  );
  const { child } = started;
  const stop = () => void child.kill("SIGINT");
  if (child.pid !== undefined)
    await writePrivately(at("process"), JSON.stringify(processIdentity(child.pid)));
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop);
  const exitCode = await started.ended;
  signal.removeEventListener("abort", stop);
  await rm(at("process"), { force: true });
  if (exitCode === EXIT.done) return { state: "done", words: [] };
  throwIfShutDown(signal);
  const words = [`exit code ${exitCode}`, ...(await lastLines(at("log")))].map(displayLine);
  if (exitCode === EXIT.locked && !signal.aborted && Context.current().info.attempt < MOST_ATTEMPTS)
    throw ApplicationFailure.retryable(
      [`${stack}: waits for a lock, 15 minutes at most`, ...words].join("\n    "),
      LOCKED_FAILURE,
    );
  const isPaused = exitCode === EXIT.paused || exitCode === EXIT.interrupted;
  return { state: isPaused ? "interrupted" : "failed", words };
}

/** Waits until a process has ended, which an interrupt asks to pause once: a second signal would end its engine. */
async function untilEnded(left: RunProcess | undefined, signal: AbortSignal): Promise<void> {
  let isAsked = false;
  while (left !== undefined && stillRuns(left)) {
    if (signal.aborted && !isAsked) process.kill(left.pid, "SIGINT");
    isAsked = signal.aborted;
    await wait(LOOK_AGAIN_MILLISECONDS);
  }
}

async function readProcess(file: string): Promise<RunProcess | undefined> {
  const text = await readFile(file, "utf8").catch(() => undefined);
  return text === undefined ? undefined : (parseJson(text) as RunProcess | undefined);
}
