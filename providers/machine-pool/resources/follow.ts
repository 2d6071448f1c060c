import { setTimeout as pause } from "node:timers/promises";
import type { Node, ObjectRef } from "../../../lib/kubernetes";
import { WaitTimeout } from "../../../lib/wait";
import {
  asksForNodes,
  evaluate,
  nodeFaults,
  observeNode,
  type ObservedNode,
  type PoolAsKnown,
  secondsUntilAvailable,
  type Stage,
  terminalFailureReason,
  Transitions,
  waitWords,
} from "../plan/evaluation";
import { type ObservedPool, observePool, terminalFailure, unsettled } from "../plan/observed";
import type { PoolInputs } from "./pool-inputs";
import {
  nameOf,
  PoolFailed,
  PoolMissing,
  type PoolSession,
  untilTerminalFailure,
  whereIs,
} from "./pool-session";

/** The end of a wait on a stage: another stage, or a pool that reports all its nodes. */
type Next = { stage: Stage } | { nodesOf: ObservedPool };

interface Followed {
  pool: ObservedPool;
  nodes: ObservedNode[];
}

/** What every wait of one run shares. */
interface Following {
  session: PoolSession;
  inputs: PoolInputs;
  transitions: Transitions;
  signal: AbortSignal;
  progress: (line: string) => void;
}

/** The shortest deadline of a watch: one that has passed must still read once. */
const LEAST_SECONDS = 0.05;

/**
 * Follows a pool until every node exists and is Ready; fails at once when an object that it refers to has a terminal
 * failure.
 *
 * @param options `before`: the pool at the end of the last run; undefined in the first run
 * @throws PoolFailed, PoolMissing, WaitTimeout with the stage and what blocks it
 */
export async function followPool(
  session: PoolSession,
  inputs: PoolInputs,
  options: { before?: PoolAsKnown; signal: AbortSignal; progress: (line: string) => void },
): Promise<Followed> {
  const ended = new AbortController();
  const signal = AbortSignal.any([options.signal, ended.signal]);
  const transitions = new Transitions(options.before);
  const following = followStages({ session, inputs, transitions, signal, progress: options.progress });
  const { bootstrap, infrastructure, nodes } = inputs.timeouts;
  const failing = untilTerminalFailure(session.management, session.ref, {
    seconds: bootstrap + infrastructure + nodes,
    signal,
  });
  const failed = failing.then((words) => {
    if (words === undefined || signal.aborted) return following;
    throw new PoolFailed(inputs, terminalFailureReason(words).failed);
  });
  try {
    return await Promise.race([following, failed]);
  } finally {
    ended.abort();
    await Promise.allSettled([following, failed]);
  }
}

/**
 * Watches the pool, and also the nodes once the pool itself reports success; at the end it checks whether the
 * infrastructure has finished. Reports each transition when it happens.
 */
async function followStages(following: Following): Promise<Followed> {
  const { session, inputs } = following;
  const left = { ...inputs.timeouts };
  /** Runs a wait with the seconds that are left of a stage, and subtracts what it takes. */
  const within = async <T>(stage: Stage, wait: (seconds: number) => Promise<T>): Promise<T> => {
    const began = Date.now();
    const result = await wait(left[stage]);
    left[stage] -= (Date.now() - began) / 1000;
    return result;
  };
  const isClusterPaused = await session.isClusterPaused();
  let stage: Stage = "bootstrap";
  for (;;) {
    session.warmUp();
    const watched: Next = await within(stage, (seconds) =>
      watchPool(following, stage, isClusterPaused, seconds),
    );
    if ("stage" in watched) {
      stage = watched.stage;
      continue;
    }
    // read in parallel with the nodes, which saves a request at the end
    const infrastructure = askInfrastructure(following, watched.nodesOf);
    const found = await within("nodes", (seconds) => watchNodes(following, watched.nodesOf, seconds));
    const asked = await infrastructure;
    if (found === undefined) stage = "nodes";
    else if (!(await within("infrastructure", (seconds) => untilSettled(following, asked, seconds))))
      stage = "infrastructure";
    else if (await within("nodes", (seconds) => wereAvailable(following, found, seconds))) return found;
  }
}

async function watchPool(
  { session, inputs, transitions, signal, progress }: Following,
  stage: Stage,
  isClusterPaused: boolean,
  seconds: number,
): Promise<Next> {
  try {
    return await session.management.watchUntil<Next, object>({
      ...session.ref,
      what: `${nameOf(inputs)} (${stage})`,
      seconds: Math.max(seconds, LEAST_SECONDS),
      signal,
      progress,
      decide: ([object]) => {
        if (object === undefined) throw new PoolMissing(inputs);
        const pool = observePool(object);
        transitions.seen(pool).forEach(progress);
        const evaluation = evaluate(pool, inputs, { isClusterPaused });
        if ("failed" in evaluation) throw new PoolFailed(inputs, evaluation.failed);
        if ("ready" in evaluation || asksForNodes(evaluation)) return { done: { nodesOf: pool } };
        const { waits } = evaluation;
        return waits.stage === stage ? { pending: waitWords(pool, waits) } : { done: { stage: waits.stage } };
      },
    });
  } catch (error) {
    // the cluster may have been paused during the wait
    if (error instanceof WaitTimeout && !isClusterPaused && (await session.isClusterPaused()))
      throw new PoolFailed(inputs, `it is paused by spec.paused of its Cluster; ${error.lastSeen}`);
    throw error;
  }
}

/** @returns undefined when the pool has changed meanwhile and must be evaluated again */
async function watchNodes(
  { session, inputs, transitions, signal, progress }: Following,
  pool: ObservedPool,
  seconds: number,
): Promise<Followed | undefined> {
  const ended = new AbortController();
  const either = AbortSignal.any([signal, ended.signal]);
  const workload = await session.workload(Math.max(seconds, 1));
  const nodes = workload.watchUntil<ObservedNode[], Node>({
    what: `the nodes of ${nameOf(inputs)}`,
    apiVersion: "v1",
    kind: "Node",
    seconds: Math.max(seconds, LEAST_SECONDS),
    signal: either,
    progress,
    decide: (objects) => {
      const observed = objects.map(observeNode);
      const faults = nodeFaults(pool.providerIDs, observed, inputs.version);
      return faults.length === 0 ? { done: observed } : { pending: faults.slice(0, 3).join(", ") };
    },
  });
  const change = session.management.watchUntil<undefined, object>({
    ...session.ref,
    what: nameOf(inputs),
    // longer than the nodes' own wait, whose timeout message has more details
    seconds: Math.max(seconds, LEAST_SECONDS) + 5,
    signal: either,
    decide: ([object]) => {
      if (object === undefined) throw new PoolMissing(inputs);
      const now = observePool(object);
      transitions.seen(now).forEach(progress);
      const isSame =
        now.generation === pool.generation && asksForNodes(evaluate(now, inputs, { isClusterPaused: false }));
      return isSame ? { pending: "as it was" } : { done: undefined };
    },
  });
  try {
    const found = await Promise.race([nodes, change]);
    return found && { pool, nodes: found };
  } finally {
    ended.abort();
    await Promise.allSettled([nodes, change]);
  }
}

/** The current infrastructure object, or why it can't be read; undefined when it does not exist. */
type Infrastructure = { ref: ObjectRef; object: object } | { error: unknown } | undefined;

/** Reads the infrastructure object of a pool. Never throws. */
async function askInfrastructure(
  { session: { management }, inputs }: Following,
  { infrastructure }: ObservedPool,
): Promise<Infrastructure> {
  try {
    const ref = infrastructure && (await whereIs(management, inputs.namespace, infrastructure));
    const object = ref && (await management.get<object>(ref));
    return ref && object && { ref, object };
  } catch (error) {
    return { error };
  }
}

/**
 * @param asked the infrastructure object, read when the pool had its machines
 * @returns true if the infrastructure had already finished; false if it has finished now, and the pool must be
 *   evaluated again
 * @throws PoolFailed; why the object could not be read
 */
async function untilSettled(
  { session: { management }, inputs, signal, progress }: Following,
  asked: Infrastructure,
  seconds: number,
): Promise<boolean> {
  if (asked === undefined) return true;
  if ("error" in asked) throw asked.error;
  const { ref, object: first } = asked;
  const words = terminalFailure(first);
  if (words !== undefined)
    throw new PoolFailed(inputs, terminalFailureReason(`${ref.kind} ${ref.name}: ${words}`).failed);
  if (unsettled(first) === undefined) return true;
  await management.watchUntil<true, object>({
    ...ref,
    what: `${ref.kind} ${inputs.namespace}/${ref.name}`,
    seconds: Math.max(seconds, LEAST_SECONDS),
    signal,
    progress,
    decide: ([object]) => {
      const why = object && unsettled(object);
      return why === undefined ? { done: true } : { pending: why };
    },
  });
  return false;
}

/**
 * @returns true if all nodes had already been Ready for long enough; false if they are now, and the pool must be
 *   evaluated again
 */
async function wereAvailable(
  { inputs, signal, progress }: Following,
  { pool: { minReadySeconds, providerIDs }, nodes }: Followed,
  seconds: number,
): Promise<boolean> {
  const missing = secondsUntilAvailable(providerIDs, nodes, minReadySeconds, Date.now());
  if (missing === 0) return true;
  const rest = `every node is Ready, and has to be for ${Math.ceil(missing)} s more (minReadySeconds)`;
  if (missing > seconds)
    throw new WaitTimeout(`the nodes of ${nameOf(inputs)} to be available`, rest, inputs.timeouts.nodes);
  progress(rest);
  await pause(missing * 1000, undefined, { signal });
  return false;
}
