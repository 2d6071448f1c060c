import { mkdir, readFile, rm } from "node:fs/promises";
import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { ApplicationFailure, Context } from "@temporalio/activity";
import { messageOf } from "../../../lib/error-message";
import { isObject, parseJson } from "../../../lib/json";
import { displayLine } from "../../../lib/text/display";
import { shortened } from "../../../lib/text/quote";
import { redact } from "../../../lib/text/redaction";
import { EXIT } from "../../terminal/exit-codes";
import { withPrivateFolder, writePrivately } from "../../engine/private-file";
import type { PolicyOptions } from "../../engine/policy-call";
import type { Project } from "../../engine/pulumi";
import { checkPart } from "../run/gates";
import { planFile, readIfThere } from "../files/load";
import type { Fleet } from "../plan/fleet";
import { failedReview, type StackReview } from "../plan/review";
import { LOCKED_FAILURE, type Regions } from "../plan/temporal";
import { otherRegion, partRefusal, stackRefusal } from "../plan/trust";
import { policyOf } from "../review/policy";
import { previewArguments, reviewOfFiles } from "../commands/preview";
import { fleetFolder, processIdentity, type RunProcess, stillRuns } from "../run/run-file";
import { logTail, startStackProcess } from "../run/stack-process";
import type { FleetActivities, PreviewOutcome, StackOutcome } from "./messages";
import { pack, refuseTooLong, unpack } from "./packed";
import type { FleetSeals } from "./seals";

const HEARTBEAT_MILLISECONDS = 3_000;
const LOOK_AGAIN_MILLISECONDS = 500;
/** How often a stack with the lock of another process is tried, up to a minute apart: for about 15 minutes. */
const MOST_ATTEMPTS = 20;

interface WorkerContext {
  readonly project: Project;
  readonly region: string;
  readonly seals: FleetSeals;
  /** Reads the waves of this worker's own checkout, and the regions of their stacks. */
  readonly load: () => Promise<{ fleet: Fleet; regions: Regions }>;
}

/**
 * Returns what a worker does for the stacks of its region. It decides by itself: what may run now, by the waves, gates and
 * windows of its own checkout and by what was sealed with the fleet's key. Nothing else from the server counts: write access
 * to the namespace is enough to delay a run, but not to make one. Commands, addresses and configuration are those of the
 * checkout, secrets those of the worker's environment.
 */
export function activitiesOf({ project, region, seals, load }: WorkerContext): FleetActivities {
  const context = async () => ({ ...(await load()), region, now: Date.now() });
  return {
    preview: ({ stack, nonce }) =>
      whileAlive(async (signal) => {
        const sealed = (outcome: Omit<PreviewOutcome, "seal">) => ({
          ...outcome,
          seal: seals.preview(nonce, stack, outcome),
        });
        try {
          const own = await context();
          const other = otherRegion(stack, own);
          if (other !== undefined) throw new Error(other);
          const policy = policyOf(project, own.fleet, stack);
          return sealed(await previewOf(project, { stack, policy }, signal));
        } catch (error) {
          if (error instanceof ApplicationFailure) throw error;
          return sealed({ review: failedReview([wordsOf(error)]) });
        }
      }),
    up: ({ run, stack, plan, said }) =>
      whileAlive(async (signal) => {
        try {
          const issue = seals.runIssue(run);
          if (issue !== undefined) throw new Error(`${issue}; nothing was changed`);
          if (!seals.isPlan(run, executionId(), stack, plan))
            throw new Error(
              "its plan is not the one that was reviewed for this run; nothing was changed\n" +
                "Begin the run again with foresail fleet up, and look who may write to the Temporal namespace",
            );
          const own = await context();
          // a name that the checkout has, before it is that of a file
          const other = otherRegion(stack, own);
          if (other !== undefined) throw new Error(other);
          const files = await stackFiles(project, run.startedAt, stack);
          const say = (kind: "done" | "failed") => seals.say(run, { at: Date.now(), kind, stack });
          // what was reported and not heard, or is asked for twice
          if (await isThere(files.done)) return { state: "done", words: [], said: say("done") };
          const refusal = stackRefusal(stack, seals.said(run, said), own);
          // what this worker has begun ends, also when the window has closed meanwhile
          if (refusal !== undefined && !(await isThere(files.begun)))
            return { state: "interrupted", words: [refusal] };
          const outcome = await upOf(project, { files, stack, plan: unpack(plan.plan) }, signal);
          const { state } = outcome;
          return state === "interrupted" ? outcome : { ...outcome, said: say(state) };
        } catch (error) {
          if (error instanceof ApplicationFailure) throw error;
          return { state: "failed", words: [wordsOf(error)] };
        }
      }),
    gate: ({ run, wave: name, part, said }) =>
      whileAlive(async (signal) => {
        try {
          const own = await context();
          const why = seals.runIssue(run) ?? partRefusal({ wave: name, part }, seals.said(run, said), own);
          if (why !== undefined) return { why };
          const wave = own.fleet.waves.find((one) => one.name === name)!;
          const stacks = wave.stacks.filter((stack) => own.regions[stack] === region);
          await checkPart({ ...wave, stacks }, part, { project, signal });
          return { said: seals.say(run, { at: Date.now(), kind: "part", wave: name, part, region }) };
        } catch (error) {
          throwIfShutDown(signal);
          return { why: wordsOf(error) };
        }
      }),
  };
}

/** Returns the server's identifier of the workflow for which this worker does something. */
const executionId = () => Context.current().info.workflowExecution?.runId ?? "";

/** The history keeps what a worker says for long, and a message has a limit. */
const LONGEST_WORDS = 2_000;
const safe = (text: string) => shortened(displayLine(text), LONGEST_WORDS);
const wordsOf = (error: unknown) => safe(messageOf(error));

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
    const review = withoutSecrets(reviewOfFiles(await readIfThere(json), plan, await logTail(log)));
    const outcome = { review, ...(plan !== undefined && { plan: pack(stack, plan) }) };
    refuseTooLong(stack, outcome);
    return outcome;
  });
}

/** Returns a review in which nothing that looks like a secret is left, whatever plugins have said. */
function withoutSecrets(review: StackReview): StackReview {
  const clean = (value: unknown): unknown => {
    if (typeof value === "string") return redact(value);
    if (Array.isArray(value)) return value.map(clean);
    if (!isObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, clean(one)]));
  };
  const { plan, ...rest } = review;
  return { ...(clean(rest) as StackReview), ...(plan !== undefined && { plan }) };
}

interface StackFiles {
  readonly plan: string;
  readonly process: string;
  readonly log: string;
  /** Exists while the stack, which has begun in this run, has not ended. */
  readonly begun: string;
  /** Exists when the stack is done in this run. */
  readonly done: string;
}

/**
 * Returns the files of a stack in a run.
 *
 * @param startedAt of a sealed run, so that it is a date
 * @param stack of this worker's checkout
 */
async function stackFiles(project: Project, startedAt: string, stack: string): Promise<StackFiles> {
  const folder = path.join(fleetFolder(project), "worker", encodeURIComponent(startedAt));
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const at = (end: string) => path.join(folder, `${encodeURIComponent(stack)}.${end}`);
  return { plan: at("plan"), process: at("process"), log: at("log"), begun: at("begun"), done: at("done") };
}

const isThere = async (file: string) => (await readIfThere(file)) !== undefined;

/** Changes a stack as its plan says; a process that an earlier worker on this machine left is awaited first. */
async function upOf(
  project: Project,
  { files, stack, plan }: { files: StackFiles; stack: string; plan: string },
  signal: AbortSignal,
): Promise<StackOutcome> {
  await untilEnded(await readProcess(files.process), signal);
  await writePrivately(files.plan, plan);
  await writePrivately(files.begun, "");
  const started = startStackProcess(
    project.folder,
    ["up", "--stack", stack, "--plan", files.plan],
    files.log,
  );
  const { child } = started;
  const stop = () => void child.kill("SIGINT");
  if (child.pid !== undefined)
    await writePrivately(files.process, JSON.stringify(processIdentity(child.pid)));
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop);
  const exitCode = await started.ended;
  signal.removeEventListener("abort", stop);
  await rm(files.process, { force: true });
  if (exitCode !== EXIT.done) throwIfShutDown(signal);
  if (exitCode === EXIT.done) await writePrivately(files.done, "");
  await rm(files.begun, { force: true });
  if (exitCode === EXIT.done) return { state: "done", words: [] };
  const words = [`exit code ${exitCode}`, ...(await logTail(files.log))].map(safe);
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
