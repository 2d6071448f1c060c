/**
 * The workflows that a Temporal server runs: this file and what it imports is bundled by the worker, and is replayed from the
 * history. So it may use no I/O and no clock but that of the workflow, and a change of the order of its calls needs `patched`.
 */
import {
  ActivityCancellationType,
  CancellationScope,
  condition,
  defineQuery,
  defineSignal,
  isCancellation,
  patched,
  proxyActivities,
  rootCause,
  setHandler,
  sleep,
} from "@temporalio/workflow";
import { stacksOf } from "../plan/fleet";
import { type GatePart, openParts, partWords } from "../plan/gate";
import { queueOf } from "../plan/temporal";
import { regionsOfPart, saidAbout, Statement, wavesBefore } from "../plan/trust";
import type { Progress } from "../plan/waves";
import { type FleetWork, runWaves } from "../run/waves-runner";
import { windowsOf } from "../run/windows";
import {
  type FleetActivities,
  type PreviewInput,
  type PreviewOutcome,
  type RunInput,
  type RunResult,
  type RunState,
  type SealedPlan,
  type SealedStatement,
  SIGNALS,
  STATE_QUERY,
} from "./messages";

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
/** The name of a change in the history of runs; never changes. */
const WAITS_WHILE_STACKS_RUN = "waits-while-stacks-run";

/** Activities of a region. One whose worker dies is done again by another, or by the same when it is back. */
const inRegion = (id: string, region: string) =>
  proxyActivities<FleetActivities>({
    taskQueue: queueOf(id, region),
    startToCloseTimeout: "2 days",
    heartbeatTimeout: "20 seconds",
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    retry: { initialInterval: "2 seconds", backoffCoefficient: 2, maximumInterval: "1 minute" },
  });

/** Previews a stack in its region. */
export const stackPreview = ({ id, region, stack, nonce }: PreviewInput): Promise<PreviewOutcome> =>
  inRegion(id, region).preview({ stack, nonce });

/** Runs the waves of a fleet, by the same plan as a run on one machine. */
export async function fleetRun(input: RunInput): Promise<RunResult> {
  const { id, fleet, regions } = input;
  const { startedAt, review, plans, seal } = input;
  const run = { startedAt, review, seal };
  const sealed = new Map<string, SealedPlan>();
  /** Statements of workers and people. A worker believes those that are sealed, and not this workflow. */
  const said: SealedStatement[] = [...(input.said ?? [])];
  const hear = (one: SealedStatement | undefined) => {
    if (one !== undefined && Statement.safeParse(one?.statement).success) said.push(one);
  };
  const approved = new Set(input.approved);
  const lines: string[] = [];
  const parts: Record<string, readonly GatePart[]> = { ...input.gateParts };
  const seconds: Record<string, number> = {};
  const stop = { aborted: false };
  let progress: Progress = input.from;
  let isPaused = false;
  let waitsFor: string | undefined;

  const say = (line: string) => void lines.push(line);
  const missing = () =>
    stacksOf(fleet).filter((stack) => progress.stacks[stack] !== "done" && !sealed.has(stack));
  const state = (after = 0): RunState => ({
    startedAt,
    review,
    plans,
    seal,
    said,
    ...progress,
    gateParts: parts,
    seconds,
    isPaused,
    missing: missing(),
    ...(waitsFor !== undefined && { waitsFor }),
    lines: lines.slice(after),
  });
  setHandler(defineQuery<RunState, [number]>(STATE_QUERY), state);
  setHandler(defineSignal<[string, SealedPlan]>(SIGNALS.plan), (stack, plan) => void sealed.set(stack, plan));
  setHandler(defineSignal<[string, SealedStatement]>(SIGNALS.approve), (wave, statement) => {
    hear(statement);
    approved.add(wave);
  });
  setHandler(defineSignal(SIGNALS.pause), () => {
    if (!isPaused) say("paused: no further stack begins");
    isPaused = true;
  });
  setHandler(defineSignal(SIGNALS.resume), () => {
    if (isPaused) say("resumed");
    isPaused = false;
  });

  /** What an interrupt cancels; the workflow itself goes on until everything has ended. */
  const work = new CancellationScope();
  CancellationScope.current().cancelRequested.catch(() => {
    say("interrupted: no further stack begins; those that run are asked to stop …");
    stop.aborted = true;
    work.cancel();
  });
  const until = (isSo: () => boolean) => condition(() => isSo() || stop.aborted);

  const stack = async (name: string) => {
    const begun = Date.now();
    say(`${name}: begins in ${regions[name]}`);
    const before = saidAbout(wavesBefore(fleet, name), said);
    const outcome = await work
      .run(() =>
        inRegion(id, regions[name] ?? "").up({ run, stack: name, plan: sealed.get(name), said: before }),
      )
      .catch((error: unknown) =>
        isCancellation(error)
          ? { state: "interrupted" as const, words: [] }
          : { state: "failed" as const, words: [rootCause(error) ?? String(error)] },
      );
    if ("said" in outcome) hear(outcome.said);
    const took = Math.round((Date.now() - begun) / 1000);
    if (outcome.state === "done") seconds[name] = took;
    const how = outcome.state === "done" ? `done in ${took} s` : `${outcome.state} after ${took} s`;
    say([`${name}: ${how}`, ...outcome.words].join("\n    "));
    return outcome.state;
  };

  /** @returns why it has failed */
  const checkPart = async (wave: RunInput["fleet"]["waves"][number], part: GatePart) => {
    if (part === "soak") return void (await sleep((wave.gate?.soakSeconds ?? 0) * 1000));
    for (const region of regionsOfPart(wave, part, regions)) {
      const about = saidAbout([wave], said);
      const found = await inRegion(id, region).gate({ run, wave: wave.name, part, said: about });
      // in the history of a run of an earlier release, it is why the part has failed, if it has
      const { why, said: heard } = typeof found === "object" ? found : { why: found };
      hear(heard);
      if (why !== undefined) return why;
    }
    return undefined;
  };

  const gate: FleetWork["gate"] = async (name) => {
    const wave = fleet.waves.find((one) => one.name === name);
    if (wave?.gate === undefined) return "passed";
    const title = `gate of ${name}`;
    for (const part of openParts(wave.gate, parts[name])) {
      say(`${title}: ${partWords(wave.gate, part)}`);
      const why = await work
        .run(() => checkPart(wave, part))
        .catch((error: unknown) => rootCause(error) ?? String(error));
      if (stop.aborted) return "waiting";
      if (why !== undefined) {
        say(`${title}: failed: ${why}`);
        return "failed";
      }
      parts[name] = [...(parts[name] ?? []), part];
    }
    if (wave.gate.approval && !approved.has(name)) {
      say(`${title}: waits for approval: foresail fleet approve --wave ${name}`);
      waitsFor = name;
      await until(() => approved.has(name));
      waitsFor = undefined;
      if (!approved.has(name)) return "waiting";
    }
    say(`${title}: passed`);
    return "passed";
  };

  const windows = windowsOf(fleet, {
    again: "foresail fleet up --continue",
    say,
    longestWait: DAY,
    wait: (milliseconds, ended) =>
      work
        .run(() =>
          CancellationScope.cancellable(() => {
            const timer = CancellationScope.current();
            void ended?.then(() => timer.cancel());
            return sleep(milliseconds);
          }),
        )
        .then(
          () => true,
          () => !stop.aborted,
        ),
  });

  return CancellationScope.nonCancellable(async () => {
    await until(() => missing().length === 0);
    const end = await runWaves(
      fleet,
      input.from,
      {
        stack,
        gate,
        save: (next) => {
          progress = next;
          return Promise.resolve();
        },
        closed: () => (isPaused ? new Set(stacksOf(fleet)) : windows.closed()),
        opening: async (stacks, ended) => {
          // a run that began before windows of stacks waits for what runs
          if (ended !== undefined && !patched(WAITS_WHILE_STACKS_RUN)) return ended.then(() => true);
          if (!isPaused) return windows.opening(stacks, ended);
          let hasEnded = false;
          void ended?.then(() => (hasEnded = true));
          await until(() => !isPaused || hasEnded);
          return !stop.aborted;
        },
      },
      stop,
    );
    return { end: stop.aborted && end !== "done" ? "stopped" : end, state: state() };
  });
}
