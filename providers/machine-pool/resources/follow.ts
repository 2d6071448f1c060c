import type { Node } from "../../../lib/kubernetes";
import { WaitTimeout } from "../../../lib/wait";
import { evaluate, terminalFailureReason, type Stage, waitWords } from "../plan/evaluation";
import { nodeFaults, observeNode, type ObservedNode } from "../plan/nodes";
import { type ObservedPool, observePool } from "../plan/observed";
import { type PoolAsKnown, Transitions } from "../plan/transitions";
import type { PoolInputs } from "./pool-inputs";
import { asksForNodes, nameOf, PoolFailed, PoolMissing, type PoolSession } from "./pool-session";
import { untilTerminalFailure } from "./referred-objects";
import { askInfrastructure, untilSettled, wereAvailable } from "./settling";

/** The end of a wait on a stage: another stage, or a pool that reports all its nodes. */
type Next = { stage: Stage } | { nodesOf: ObservedPool };

interface Followed {
  pool: ObservedPool;
  nodes: ObservedNode[];
}

interface Following {
  /** the pool at the end of the last run; undefined in the first run */
  before?: PoolAsKnown;
  signal: AbortSignal;
  progress: (line: string) => void;
}

/**
 * Follows a pool until every node exists and is Ready; fails at once when an object that it refers to has a terminal
 * failure.
 *
 * @throws PoolFailed, PoolMissing, WaitTimeout with the stage and what blocks it
 */
export async function followPool(
  session: PoolSession,
  inputs: PoolInputs,
  { signal, ...options }: Following,
): Promise<Followed> {
  const ended = new AbortController();
  const either = AbortSignal.any([signal, ended.signal]);
  const following = followStages(session, inputs, { ...options, signal: either });
  const { bootstrap, infrastructure, nodes } = inputs.timeouts;
  const failing = untilTerminalFailure(session.management, session.ref, {
    seconds: bootstrap + infrastructure + nodes,
    signal: either,
  });
  const failed = failing.then((words) => {
    if (words === undefined || either.aborted) return following;
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
async function followStages(
  session: PoolSession,
  inputs: PoolInputs,
  { before, signal, progress }: Following,
): Promise<Followed> {
  const reported = new Transitions(before);
  const left = { ...inputs.timeouts };
  const isClusterPaused = await session.isClusterPaused();
  let stage: Stage = "bootstrap";
  for (;;) {
    session.warmUp();
    const began = Date.now();
    const seconds = Math.max(left[stage], 0.05);
    const options = { stage, isClusterPaused, seconds, told: reported, signal, progress };
    const watched = await watchPool(session, inputs, options);
    left[stage] -= (Date.now() - began) / 1000;
    if ("stage" in watched) {
      stage = watched.stage;
      continue;
    }
    const nodesBegan = Date.now();
    // read in parallel with the nodes, which saves a request at the end
    const infrastructure = askInfrastructure(session, inputs, watched.nodesOf);
    const found = await watchNodes(session, inputs, watched.nodesOf, {
      seconds: left.nodes,
      told: reported,
      signal,
      progress,
    });
    left.nodes -= (Date.now() - nodesBegan) / 1000;
    const asked = await infrastructure;
    if (found === undefined) {
      stage = "nodes";
      continue;
    }
    const settlingBegan = Date.now();
    const isSettled = await untilSettled(session, inputs, asked, {
      seconds: left.infrastructure,
      signal,
      progress,
    });
    left.infrastructure -= (Date.now() - settlingBegan) / 1000;
    if (!isSettled) {
      stage = "infrastructure";
      continue;
    }
    const pauseBegan = Date.now();
    if (await wereAvailable(found, inputs, { seconds: left.nodes, signal, progress })) return found;
    left.nodes -= (Date.now() - pauseBegan) / 1000;
  }
}

interface Watch {
  seconds: number;
  told: Transitions;
  signal: AbortSignal;
  progress: (line: string) => void;
}

async function watchPool(
  session: PoolSession,
  inputs: PoolInputs,
  {
    stage,
    isClusterPaused,
    seconds,
    told: reported,
    signal,
    progress,
  }: Watch & {
    stage: Stage;
    isClusterPaused: boolean;
  },
): Promise<Next> {
  const name = nameOf(inputs);
  try {
    return await session.management.watchUntil<Next, object>({
      ...session.ref,
      what: `${name} (${stage})`,
      seconds,
      signal,
      progress,
      decide: ([object]) => {
        if (object === undefined) throw new PoolMissing(inputs);
        const pool = observePool(object);
        reported.seen(pool).forEach(progress);
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
  session: PoolSession,
  inputs: PoolInputs,
  pool: ObservedPool,
  { seconds, told: reported, signal, progress }: Watch,
): Promise<Followed | undefined> {
  const name = nameOf(inputs);
  const ended = new AbortController();
  const either = AbortSignal.any([signal, ended.signal]);
  const workload = await session.workload(Math.max(seconds, 1));
  const nodes = workload.watchUntil<ObservedNode[], Node>({
    what: `the nodes of ${name}`,
    apiVersion: "v1",
    kind: "Node",
    seconds: Math.max(seconds, 0.05),
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
    what: name,
    // longer than the nodes' own wait, whose timeout message has more details
    seconds: Math.max(seconds, 0.05) + 5,
    signal: either,
    decide: ([object]) => {
      if (object === undefined) throw new PoolMissing(inputs);
      const now = observePool(object);
      reported.seen(now).forEach(progress);
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
