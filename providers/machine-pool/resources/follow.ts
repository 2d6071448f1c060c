import { setTimeout as pause } from "node:timers/promises";
import type { Node, ObjectRef, WatchArgs } from "../../../lib/kubernetes";
import { type Probed, WaitTimeout } from "../../../lib/wait";
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
import { type ObservedPool, observePool, unsettled } from "../plan/observed";
import type { PoolInputs } from "./machine-pool-ready";
import { failureOf, nameOf, PoolFailed, PoolMissing, type PoolSession } from "./pool-session";

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

/** What a watch waits for; without `progress` it does not report its waiting. */
type Watch = Pick<WatchArgs<unknown, object>, "what" | "seconds" | "progress">;

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
  const seconds = bootstrap + infrastructure + nodes;
  const failed = session.untilTerminalFailure({ seconds, signal }).then((words) => {
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

/** Watches one object of the management cluster. */
function watch<T>(
  { session, signal }: Following,
  ref: ObjectRef,
  { seconds, ...args }: Watch,
  decide: (object: object | undefined) => Probed<T>,
): Promise<T> {
  return session.management.watchUntil<T, object>({
    ...ref,
    ...args,
    seconds: Math.max(seconds, LEAST_SECONDS),
    signal,
    decide: ([object]) => decide(object),
  });
}

/** Watches the pool and reports its transitions. */
function watchTransitions<T>(
  following: Following,
  args: Watch,
  decide: (pool: ObservedPool) => Probed<T>,
): Promise<T> {
  const { session, inputs, transitions, progress } = following;
  return watch(following, session.ref, args, (object) => {
    if (object === undefined) throw new PoolMissing(inputs);
    const pool = observePool(object);
    transitions.seen(pool).forEach(progress);
    return decide(pool);
  });
}

async function watchPool(
  following: Following,
  stage: Stage,
  isClusterPaused: boolean,
  seconds: number,
): Promise<Next> {
  const { session, inputs, progress } = following;
  try {
    const args = { what: `${nameOf(inputs)} (${stage})`, seconds, progress };
    return await watchTransitions<Next>(following, args, (pool) => {
      const evaluation = evaluate(pool, inputs, { isClusterPaused });
      if ("failed" in evaluation) throw new PoolFailed(inputs, evaluation.failed);
      if ("ready" in evaluation || asksForNodes(evaluation)) return { done: { nodesOf: pool } };
      const { waits } = evaluation;
      return waits.stage === stage ? { pending: waitWords(pool, waits) } : { done: { stage: waits.stage } };
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
  following: Following,
  pool: ObservedPool,
  seconds: number,
): Promise<Followed | undefined> {
  const { session, inputs, progress } = following;
  const ended = new AbortController();
  const signal = AbortSignal.any([following.signal, ended.signal]);
  const workload = await session.workload(Math.max(seconds, 1));
  const nodes = workload.watchUntil<ObservedNode[], Node>({
    what: `the nodes of ${nameOf(inputs)}`,
    apiVersion: "v1",
    kind: "Node",
    seconds: Math.max(seconds, LEAST_SECONDS),
    signal,
    progress,
    decide: (objects) => {
      const observed = objects.map(observeNode);
      const faults = nodeFaults(pool.providerIDs, observed, inputs.version);
      return faults.length === 0 ? { done: observed } : { pending: faults.slice(0, 3).join(", ") };
    },
  });
  // longer than the nodes' own wait, whose timeout message has more details
  const args = { what: nameOf(inputs), seconds: Math.max(seconds, LEAST_SECONDS) + 5 };
  const change = watchTransitions<undefined>({ ...following, signal }, args, (now) => {
    const isSame =
      now.generation === pool.generation && asksForNodes(evaluate(now, inputs, { isClusterPaused: false }));
    return isSame ? { pending: "as it was" } : { done: undefined };
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
async function askInfrastructure({ session }: Following, pool: ObservedPool): Promise<Infrastructure> {
  try {
    const ref = await session.whereIs(pool.infrastructure);
    const object = ref && (await session.management.get<object>(ref));
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
async function untilSettled(following: Following, asked: Infrastructure, seconds: number): Promise<boolean> {
  if (asked === undefined) return true;
  if ("error" in asked) throw asked.error;
  const { inputs, progress } = following;
  const { ref, object: first } = asked;
  const words = failureOf(ref, first);
  if (words !== undefined) throw new PoolFailed(inputs, terminalFailureReason(words).failed);
  if (unsettled(first) === undefined) return true;
  const what = `${ref.kind} ${inputs.namespace}/${ref.name}`;
  await watch<true>(following, ref, { what, seconds, progress }, (object) => {
    const why = object && unsettled(object);
    return why === undefined ? { done: true } : { pending: why };
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
