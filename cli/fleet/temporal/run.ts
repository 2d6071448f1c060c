import type { Client, WorkflowHandle } from "@temporalio/client";
import { setTimeout as wait } from "node:timers/promises";
import { messageOf } from "../../../lib/error-message";
import { readGivenFile } from "../../../lib/files";
import { cutList } from "../../../lib/text/quote";
import { CommandError, EXIT } from "../../exit-codes";
import type { Project } from "../../pulumi";
import { askPerson, onInterrupts } from "../../terminal";
import { planFile } from "../load";
import { type Fleet, stacksOf } from "../plan/fleet";
import { fleetId, lockWaits, queueOf, type Regions } from "../plan/temporal";
import type { Progress } from "../plan/waves";
import type { RunRecord } from "../run-file";
import { stateTable } from "../table";
import { connectClient } from "./connection";
import { RUN_WORKFLOW, type RunInput, type RunResult, type RunState, SIGNALS, STATE_QUERY } from "./messages";
import { pack } from "./packed";
import { serverOf } from "./server";

const LOOK_AGAIN_MILLISECONDS = 1_000;
/** The number of a queue of activities in the server's interface. */
const ACTIVITY_QUEUE = 2;
/** How long a run is watched whose server or workers don't answer, in milliseconds; the run itself goes on. */
const PATIENCE_MILLISECONDS = 10 * 60_000;

/** The run of a fleet on its server, open or ended. */
export interface ServerRun {
  readonly client: Client;
  readonly id: string;
  /** How far the last run is; undefined when there was none. */
  readonly last?: RunRecord;
  readonly isOpen: boolean;
  /** What an open run waits for. */
  readonly waits: readonly string[];
}

/** Connects to the server of a fleet, and reads how far its last run is. @throws CommandError */
export async function findRun(project: Project, fleet: Fleet): Promise<ServerRun> {
  const client = await connectClient(serverOf(fleet));
  const id = fleetId(project.name, fleet);
  const handle = client.workflow.getHandle(id);
  const { WorkflowNotFoundError } = await import("@temporalio/client");
  const found = await handle.describe().catch((error: unknown) => {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw new CommandError("failed", `the Temporal server does not answer: ${messageOf(error)}`);
  });
  if (found === undefined) return { client, id, isOpen: false, waits: [] };
  const isOpen = found.status.name === "RUNNING";
  const state =
    found.status.name === "COMPLETED"
      ? ((await handle.result()) as RunResult).state
      : // also of a run that was terminated, as long as a worker can replay it
        await stateOf(handle, 0).catch((error: unknown) => {
          throw new CommandError(
            "failed",
            `the last run can't be read, which takes a worker: ${messageOf(error)}\n` +
              "Start one: foresail fleet worker --region REGION",
          );
        });
  const { startedAt, review, plans, stacks, gates, gateParts } = state;
  const record = { startedAt, review, plans, stacks, gates, gateParts, processes: {} };
  const { isPaused, waitsFor, missing } = state;
  const waits = [
    ...(isPaused ? ["it is paused; to go on: foresail fleet resume"] : []),
    ...(waitsFor
      ? [`the gate of ${waitsFor} waits for approval: foresail fleet approve --wave ${waitsFor}`]
      : []),
    ...lockWaits(found.raw.pendingActivities),
    ...(missing.length > 0 ? ["plans are missing; to send them: foresail fleet up --plan FOLDER"] : []),
  ];
  return { client, id, isOpen, last: record as unknown as RunRecord, waits: isOpen ? waits : [] };
}

const stateOf = (handle: WorkflowHandle, after: number): Promise<RunState> =>
  handle.query<RunState, [number]>(STATE_QUERY, after);

/** @throws CommandError for regions without a worker, since their stacks would wait for one */
export async function refuseWithoutWorkers({ client, id }: ServerRun, regions: Regions): Promise<void> {
  const missing: string[] = [];
  for (const region of new Set(Object.values(regions))) {
    const { pollers } = await client.workflowService.describeTaskQueue({
      namespace: client.options.namespace,
      taskQueue: { name: queueOf(id, region) },
      taskQueueType: ACTIVITY_QUEUE,
    });
    if (pollers.length === 0) missing.push(region);
  }
  if (missing.length === 0) return;
  throw new CommandError(
    "failed",
    `there is no worker in ${cutList(missing, ", ")}; nothing was changed\n` +
      `Start one there: foresail fleet worker --region ${missing[0]}`,
  );
}

interface ServerRunOptions {
  readonly project: Project;
  readonly fleet: Fleet;
  readonly regions: Regions;
  readonly run: RunRecord;
  readonly approved: readonly string[];
  readonly watch: (progress: Progress) => void;
  readonly took: (stack: string, seconds: number) => void;
  readonly say: (line: string) => void;
}

/** Starts the run on the server, or joins the open one, and shows it to its end. @returns the exit code */
export async function runOnServer(at: ServerRun, options: ServerRunOptions): Promise<number> {
  const { say } = options;
  const { client, id } = at;
  const handle = at.isOpen ? client.workflow.getHandle(id) : await start(at, options);
  if (at.isOpen) for (const wave of options.approved) await handle.signal(SIGNALS.approve, wave);
  await sendPlans(handle, at, options);
  let interrupts = 0;
  const leave = new AbortController();
  const forget = onInterrupts(() => {
    interrupts += 1;
    if (interrupts === 1) void handle.cancel().catch((error: unknown) => say(messageOf(error)));
    else leave.abort();
  });
  try {
    return await showToItsEnd(handle, options, { leave: leave.signal, isJoined: at.isOpen });
  } finally {
    forget();
  }
}

async function start({ client, id }: ServerRun, options: ServerRunOptions): Promise<WorkflowHandle> {
  const { fleet, regions, run, approved } = options;
  const input: RunInput = {
    ...{ id, startedAt: run.startedAt, review: run.review, plans: run.plans, fleet, regions, approved },
    ...{ from: { stacks: run.stacks, gates: run.gates }, gateParts: run.gateParts ?? {} },
  };
  const { WorkflowExecutionAlreadyStartedError } = await import("@temporalio/client");
  return client.workflow
    .start(RUN_WORKFLOW, { workflowId: id, taskQueue: id, args: [input] })
    .catch((error: unknown) => {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      throw new CommandError(
        "locked",
        "another run of this fleet began at the same time; run the command again",
      );
    });
}

/** Sends the plans that the run does not have yet: all at its start, the rest after an interruption. */
async function sendPlans(
  handle: WorkflowHandle,
  at: ServerRun,
  { fleet, run }: ServerRunOptions,
): Promise<void> {
  const missing = at.isOpen
    ? (await stateOf(handle, 0)).missing
    : stacksOf(fleet).filter((stack) => run.stacks[stack] !== "done");
  for (const stack of missing) {
    const text = await readGivenFile(planFile(run.plans, stack), "the plan", "preview and review again");
    await handle.signal(SIGNALS.plan, stack, pack(stack, text));
  }
}

async function showToItsEnd(
  handle: WorkflowHandle,
  { fleet, approved, watch, took, say }: ServerRunOptions,
  { leave, isJoined }: { leave: AbortSignal; isJoined: boolean },
): Promise<number> {
  const shown = new Set<string>();
  const waits = new Set<string>();
  let lines = 0;
  // the command that began the run knows how long its stacks took
  let isKnown = isJoined;
  const show = (state: RunState, skip: number) => {
    for (const line of state.lines.slice(skip)) say(line);
    lines += state.lines.length - skip;
    for (const [stack, seconds] of Object.entries(state.seconds)) {
      if (!shown.has(stack) && !isKnown) took(stack, seconds);
      shown.add(stack);
    }
    isKnown = false;
    watch(state);
  };
  let answered = Date.now();
  for (;;) {
    if (leave.aborted) {
      say("the run goes on in Temporal; to see it: foresail fleet status");
      return EXIT.interrupted;
    }
    try {
      const { status, raw } = await handle.describe();
      if (status.name === "RUNNING") {
        const state = await stateOf(handle, lines);
        show(state, 0);
        for (const words of lockWaits(raw.pendingActivities)) {
          if (!waits.has(words)) say(words);
          waits.add(words);
        }
        const exitCode = state.waitsFor && (await askAbout(state.waitsFor, handle, approved, say));
        if (typeof exitCode === "number") return exitCode;
      } else if (status.name === "COMPLETED") {
        const { end, state } = (await handle.result()) as RunResult;
        show(state, lines);
        for (const line of stateTable(fleet, state)) say(line);
        return exitOf(end, say);
      } else
        throw new CommandError("failed", `the run was ended on the server: ${status.name.toLowerCase()}`);
      answered = Date.now();
    } catch (error) {
      if (error instanceof CommandError) throw error;
      // the server or the workers may be away for a while; the run loses nothing by it
      if (Date.now() - answered > PATIENCE_MILLISECONDS)
        throw new CommandError(
          "failed",
          `neither the server nor a worker answers: ${messageOf(error)}\nThe run goes on when they do; join it then: foresail fleet up --continue`,
        );
    }
    await wait(LOOK_AGAIN_MILLISECONDS, undefined, { signal: leave }).catch(() => undefined);
  }
}

/** Asks a person at the terminal about a gate. @returns an exit code when the run waits for someone else */
async function askAbout(
  wave: string,
  handle: WorkflowHandle,
  approved: readonly string[],
  say: (line: string) => void,
): Promise<number | undefined> {
  if (approved.includes(wave)) return undefined;
  const answer = await askPerson(`gate of ${wave}: go on with the next wave? [y/N] `);
  if (answer === true) {
    await handle.signal(SIGNALS.approve, wave);
    return undefined;
  }
  say(`the run waits in Temporal; to go on: foresail fleet up --continue --approve ${wave}`);
  return EXIT.paused;
}

function exitOf(end: RunResult["end"], say: (line: string) => void): number {
  if (end === "done") return EXIT.done;
  if (end === "waiting") return EXIT.paused;
  const next = "continue with what is left of it: foresail fleet up --continue";
  say(end === "stopped" ? next : `fix the cause, then ${next}`);
  return end === "stopped" ? EXIT.interrupted : EXIT.failed;
}
