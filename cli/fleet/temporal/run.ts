import type { Client, WorkflowHandle } from "@temporalio/client";
import { setTimeout as wait } from "node:timers/promises";
import { messageOf } from "../../../lib/error-message";
import { readGivenFile } from "../../../lib/files";
import { isObject } from "../../../lib/json";
import { cutList } from "../../../lib/text/quote";
import { CommandError, EXIT } from "../../terminal/exit-codes";
import type { Project } from "../../engine/pulumi";
import { askPerson, onInterrupts } from "../../terminal/terminal";
import { planFile, reviewOf } from "../files/load";
import { type Fleet, stacksOf } from "../plan/fleet";
import { fleetId, lockWaits, queueOf, type Regions } from "../plan/temporal";
import type { Progress } from "../plan/waves";
import { parseRun, type RunRecord } from "../run/run-file";
import { stateTable } from "../run/table";
import { connectClient } from "./connection";
import {
  RUN_WORKFLOW,
  type RunInput,
  type RunResult,
  type RunState,
  type SealedStatement,
  SIGNALS,
  STATE_QUERY,
} from "./messages";
import { pack } from "./packed";
import type { FleetSeals } from "./seals";
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
  /** The server's identifier of the last run's workflow; absent when there was none. */
  readonly execution?: string;
  /** What was said of the last run. */
  readonly said: readonly SealedStatement[];
  /** How far the last run is; undefined when there was none. */
  readonly last?: RunRecord;
  readonly isOpen: boolean;
  /** What an open run waits for. */
  readonly waits: readonly string[];
}

/**
 * Connects to the server of a fleet, and reads how far its last run is.
 *
 * @param seals finds out whether the command with the fleet's key began that run; without them, it is as the server says
 * @throws CommandError
 */
export async function findRun(project: Project, fleet: Fleet, seals?: FleetSeals): Promise<ServerRun> {
  const client = await connectClient(serverOf(fleet));
  try {
    return await readLastRun(client, fleetId(project.name, fleet), seals);
  } catch (error) {
    await client.connection.close();
    throw error;
  }
}

/** @throws CommandError */
async function readLastRun(client: Client, id: string, seals: FleetSeals | undefined): Promise<ServerRun> {
  const handle = client.workflow.getHandle(id);
  const { WorkflowNotFoundError } = await import("@temporalio/client");
  const found = await handle.describe().catch((error: unknown) => {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw new CommandError("failed", `the Temporal server does not answer: ${messageOf(error)}`);
  });
  if (found === undefined) return { client, id, said: [], isOpen: false, waits: [] };
  const isOpen = found.status.name === "RUNNING";
  const state: unknown =
    found.status.name === "COMPLETED"
      ? ((await handle.result()) as RunResult | undefined)?.state
      : // also of a run that was terminated, as long as a worker can replay it
        await stateOf(handle, 0).catch((error: unknown) => {
          throw new CommandError(
            "failed",
            `the last run can't be read, which takes a worker: ${messageOf(error)}\n` +
              "Start one: foresail fleet worker --region REGION",
          );
        });
  // a workflow of others may have ended with anything
  const { isPaused, waitsFor, missing = [], said = [] } = (isObject(state) ? state : {}) as Partial<RunState>;
  const last = isObject(state) ? parseRun({ ...state, processes: {} }) : undefined;
  const issue = last === undefined ? "it is not a run of a fleet" : seals?.runIssue(state);
  if (issue !== undefined || last === undefined) {
    // an ended run counts no more; an open one has the name of the next
    if (!isOpen) return { client, id, said: [], isOpen, waits: [] };
    throw new CommandError(
      "failed",
      `a run of this fleet is open in Temporal, and can't be joined: ${issue}\n` +
        `Look who began it, and end it: temporal workflow terminate --workflow-id ${id}`,
    );
  }
  const waits = [
    ...(isPaused ? ["it is paused; to go on: foresail fleet resume"] : []),
    ...(waitsFor
      ? [`the gate of ${waitsFor} waits for approval: foresail fleet approve --wave ${waitsFor}`]
      : []),
    ...lockWaits(found.raw.pendingActivities),
    ...(missing.length > 0 ? ["plans are missing; to send them: foresail fleet up --plan FOLDER"] : []),
  ];
  return {
    client,
    id,
    said,
    isOpen,
    last: seals === undefined ? last : withoutUnsaid(last, said, seals),
    execution: found.runId,
    waits: isOpen ? waits : [],
  };
}

/** Returns a run without the stacks of which only the server says that they are done. */
function withoutUnsaid(run: RunRecord, said: readonly SealedStatement[], seals: FleetSeals): RunRecord {
  const unsaid = unsaidStacks(run, run, said, seals);
  const stacks = Object.fromEntries(Object.entries(run.stacks).filter(([stack]) => !unsaid.includes(stack)));
  return { ...run, stacks };
}

/** Returns the stacks that are done as the server says, and of which no worker with the key has said so. */
function unsaidStacks(
  { stacks }: Pick<Progress, "stacks">,
  run: Pick<RunRecord, "startedAt" | "review">,
  said: readonly SealedStatement[],
  seals: FleetSeals,
): string[] {
  const statements = seals.said(run, said);
  const isSaid = (stack: string) => statements.some((one) => one.kind === "done" && one.stack === stack);
  return Object.entries(stacks).flatMap(([stack, state]) =>
    state === "done" && !isSaid(stack) ? [stack] : [],
  );
}

export const stateOf = (handle: WorkflowHandle, after: number): Promise<RunState> =>
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
  readonly seals: FleetSeals;
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
  const begun = at.isOpen ? undefined : await start(at, options);
  const execution = begun?.firstExecutionRunId ?? at.execution ?? "";
  const handle = begun ?? client.workflow.getHandle(id);
  if (at.isOpen) for (const wave of options.approved) await approve(handle, options.seals, options.run, wave);
  await sendPlans(handle, { isOpen: at.isOpen, execution }, options);
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

/** Says that a person approves the gate of a wave in a run. */
export const approve = (
  handle: WorkflowHandle,
  seals: FleetSeals,
  run: Pick<RunRecord, "startedAt" | "review">,
  wave: string,
): Promise<void> => handle.signal(SIGNALS.approve, wave, approval(seals, run, wave));

const approval = (seals: FleetSeals, run: Pick<RunRecord, "startedAt" | "review">, wave: string) =>
  seals.say(run, { at: Date.now(), kind: "approved", wave });

async function start({ client, id, said, last }: ServerRun, options: ServerRunOptions) {
  const { fleet, regions, run, seals, approved } = options;
  const input: RunInput = {
    id,
    startedAt: run.startedAt,
    review: run.review,
    plans: run.plans,
    fleet,
    regions,
    approved,
    from: { stacks: run.stacks, gates: run.gates },
    gateParts: run.gateParts ?? {},
    seal: seals.run(run).seal,
    said: [
      ...(last?.startedAt === run.startedAt ? said : []),
      ...approved.map((wave) => approval(seals, run, wave)),
    ],
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

/**
 * Sends the plans that the run does not have yet: all at its start, the rest after an interruption.
 *
 * @throws CommandError for plans that are not those of the run, wherever the server says that they are
 */
async function sendPlans(
  handle: WorkflowHandle,
  { isOpen, execution }: { isOpen: boolean; execution: string },
  { fleet, run, seals }: ServerRunOptions,
): Promise<void> {
  const asked = isOpen ? (await stateOf(handle, 0)).missing : undefined;
  const missing = stacksOf(fleet).filter((stack) => asked?.includes(stack) ?? run.stacks[stack] !== "done");
  if (missing.length > 0 && (await reviewOf(fleet, run.plans)) !== run.review)
    throw new CommandError(
      "changed",
      `the waves or the plans in ${run.plans} are not those of the run; preview and review again`,
    );
  for (const stack of missing) {
    const text = await readGivenFile(planFile(run.plans, stack), "the plan", "preview and review again");
    await handle.signal(SIGNALS.plan, stack, seals.plan(run, execution, stack, pack(stack, text)));
  }
}

async function showToItsEnd(
  handle: WorkflowHandle,
  { fleet, run, seals, approved, watch, took, say }: ServerRunOptions,
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
        const exitCode =
          state.waitsFor &&
          (await askAbout(state.waitsFor, () => approve(handle, seals, run, state.waitsFor!), approved, say));
        if (typeof exitCode === "number") return exitCode;
      } else if (status.name === "COMPLETED") {
        const { end, state } = (await handle.result()) as RunResult;
        show(state, lines);
        for (const line of stateTable(fleet, state)) say(line);
        const unsaid = unsaidStacks(state, run, state.said, seals);
        if (unsaid.length > 0)
          throw new CommandError(
            "failed",
            `no worker with the key of this fleet has said that it changed ${cutList(unsaid, ", ")}, although the server says that it is done\n` +
              "Look who may write to the Temporal namespace, then continue: foresail fleet up --continue",
          );
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
  approveIt: () => Promise<void>,
  approved: readonly string[],
  say: (line: string) => void,
): Promise<number | undefined> {
  if (approved.includes(wave)) return undefined;
  const answer = await askPerson(`gate of ${wave}: go on with the next wave? [y/N] `);
  if (answer === true) {
    await approveIt();
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
