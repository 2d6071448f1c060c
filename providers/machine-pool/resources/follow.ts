import { setTimeout as pause } from "node:timers/promises";
import type { KubernetesClient, Node } from "../../../lib/kubernetes";
import { type FollowArgs, follow } from "../../../lib/kubernetes/follow";
import { orAborted } from "../../../lib/abort";
import { type Deadline, type Probed, withDeadline, WaitTimeout } from "../../../lib/wait";
import {
  evaluate,
  machinesToGo,
  observePoolNode,
  type ObservedPoolNode,
  type PoolAsKnown,
  type PoolContext,
  secondsUntilAvailable,
  type Stage,
  Transitions,
  waitWords,
} from "../plan/evaluation";
import { type ObservedPool, observePool, type ReferredObject, unsettled } from "../plan/observed";
import { errorConditions, LastingErrors, troublesBeside } from "../plan/troubles";
import { listed } from "../../../lib/text/quote";
import type { PoolInputs } from "./machine-pool-ready";
import { poolName, PoolFailed, PoolMissing, type PoolSession } from "./pool-session";

interface Followed {
  pool: ObservedPool;
  nodes: readonly ObservedPoolNode[];
}

/** What every wait of one run shares. */
interface Run {
  session: PoolSession;
  inputs: PoolInputs;
  transitions: Transitions;
  /** the seconds that are left of each stage */
  left: Record<Stage, number>;
  /** how many machines a change of the template has yet to replace */
  toGo: number;
  errors: LastingErrors;
  signal: AbortSignal;
  progress: (line: string) => void;
}

/** The shortest deadline of a wait: one that has passed must still evaluate once. */
const LEAST_SECONDS = 0.05;
/** How long a condition of severity Error lasts before it ends the wait: at most so many seconds and a part of the deadline. */
const ERROR_SECONDS = 30;
const ERROR_PART = 1 / 4;

/**
 * Follows a pool until every node exists and has been Ready for `minReadySeconds`; fails at once when an object that it
 * refers to has a terminal failure.
 *
 * @param options `before`: the pool at the end of the last run; undefined in the first run
 * @throws PoolFailed, PoolMissing, WaitTimeout with the stage and what blocks it
 */
export async function followPool(
  session: PoolSession,
  inputs: PoolInputs,
  options: { before?: PoolAsKnown; signal: AbortSignal; progress: (line: string) => void },
): Promise<Followed> {
  const { before, ...waiting } = options;
  const run = {
    session,
    inputs,
    ...waiting,
    transitions: new Transitions(before),
    left: { ...inputs.timeouts },
    toGo: Infinity,
    errors: new LastingErrors(),
  };
  for (;;) {
    const ended = new AbortController();
    const view = new PoolView({ ...run, signal: AbortSignal.any([options.signal, ended.signal]) });
    try {
      await view.start();
      const found = await untilReady(run, view);
      if (!view.hasSettled && (await wereAvailable(run, found))) return found;
    } finally {
      ended.abort();
    }
  }
}

/** Waits in each stage until its deadline. */
async function untilReady(run: Run, view: PoolView): Promise<Followed> {
  const { session, inputs, left, signal, progress } = run;
  let stage: Stage = "bootstrap";
  for (;;) {
    const began = Date.now();
    const wait: Deadline = {
      what: `${poolName(inputs)} (${stage})`,
      seconds: Math.max(left[stage], LEAST_SECONDS),
      signal,
      progress,
    };
    const next: Stage | Followed = await view
      .until(wait, () => nextOf(run, view, stage))
      .catch(async (error: unknown) => {
        if (!(error instanceof WaitTimeout)) throw error;
        // the cluster may have been paused during the wait
        if (await session.isClusterPaused())
          throw new PoolFailed(inputs, `it is paused by spec.paused of its Cluster; ${error.lastSeen}`);
        throw await explained(run, view, error, stage);
      });
    left[stage] -= (Date.now() - began) / 1000;
    if (typeof next === "object") return next;
    stage = next;
    const toGo = machinesToGo(view.pool, inputs).length;
    // a roll takes as long as it has machines; the deadline is for each
    if (toGo < run.toGo) left.infrastructure = inputs.timeouts.infrastructure;
    run.toGo = toGo;
  }
}

/** Returns a stage's timeout with what the pool's objects report, and with what to do when no machine is replaced. */
async function explained(
  { session, inputs }: Run,
  view: PoolView,
  error: WaitTimeout,
  stage: Stage,
): Promise<WaitTimeout> {
  const troubles = troublesBeside(error.lastSeen, await session.troubles(view.pool, view.around));
  const seen = listed([error.lastSeen, ...troubles], { most: 6, longest: 600, separator: "; " });
  const isRolling = machinesToGo(view.pool, inputs).length > 0;
  const reason =
    troubles.length === 0 ? "their provider reports no reason: see its log" : "more is in the provider's log";
  const advice = `${reason}; if the changed field replaces no machine, add it to infrastructure.inPlaceFields`;
  return new WaitTimeout(error.what, isRolling ? `${seen}; ${advice}` : seen, inputs.timeouts[stage]);
}

/** Returns the stage that the pool waits for now, or its nodes when it waits for nothing. @throws PoolFailed */
function nextOf(
  { inputs, left, toGo, errors, transitions, progress }: Run,
  view: PoolView,
  stage: Stage,
): Probed<Stage | Followed> {
  const { pool, around } = view;
  transitions.seen(pool, around).forEach(progress);
  const evaluation = evaluate(pool, inputs, around);
  if ("failed" in evaluation) throw new PoolFailed(inputs, evaluation.failed);
  if ("ready" in evaluation) return { done: { pool, nodes: around.nodes ?? [] } };
  const { waits } = evaluation;
  if (waits.isOfNodes) view.watchNodes(Math.max(left.nodes, 1));
  const patience = Math.min(ERROR_SECONDS, inputs.timeouts[waits.stage] * ERROR_PART);
  const { lasting, again } = errors.seen(errorConditions(pool, around), Date.now() / 1000, patience);
  if (lasting !== undefined) throw new PoolFailed(inputs, `${lasting}; ${waits.for}`);
  if (again !== undefined) view.lookAgain(again);
  if (waits.stage !== stage || machinesToGo(pool, inputs).length < toGo) return { done: waits.stage };
  return { pending: waits.isOfNodes ? waits.for : waitWords(pool, waits) };
}

/**
 * @returns true if all nodes had already been Ready for long enough; false if they are now, and the pool must be
 *   evaluated again
 */
async function wereAvailable(run: Run, { pool, nodes }: Followed): Promise<boolean> {
  const { inputs, left, signal, progress } = run;
  const missing = secondsUntilAvailable(pool.providerIDs, nodes, pool.minReadySeconds, Date.now());
  if (missing === 0) return true;
  const rest = `every node is Ready, and has to be for ${Math.ceil(missing)} s more (minReadySeconds)`;
  if (missing > left.nodes)
    throw new WaitTimeout(`the nodes of ${poolName(inputs)} to be available`, rest, inputs.timeouts.nodes);
  progress(rest);
  left.nodes -= missing;
  await pause(missing * 1000, undefined, { signal });
  return false;
}

/** What is known of a pool. Watches keep it up to date until the signal aborts. */
class PoolView {
  pool!: ObservedPool;
  around: PoolContext = { isClusterPaused: false };
  /** whether the infrastructure has changed its machines, so that the pool's status may be older */
  hasSettled = false;
  private nodes: Promise<void> | undefined;
  private failure: { error: unknown } | undefined;
  private onChange: (trouble?: string) => void = () => undefined;
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly run: Run) {}

  /** Reads the pool and the objects that it refers to, and watches them from now on. */
  async start(): Promise<void> {
    const { session } = this.run;
    const { management } = session;
    this.take(await management.get<object>(session.ref));
    const isClusterPaused = await session.isClusterPaused();
    // without a right to read it or to watch them, the pool's own status must suffice
    const bootstrap = await session.read(this.pool.bootstrapConfig).catch(() => undefined);
    const infrastructure = await session.read(this.pool.infrastructure);
    this.around = { isClusterPaused, bootstrap, infrastructure };
    this.watch<object>(management, session.ref, ([pool]) => this.take(pool)).catch(this.fail);
    if (bootstrap)
      this.watch<ReferredObject>(management, bootstrap.ref, ([found]) => {
        bootstrap.object = found;
      }).catch(() => undefined);
    if (!infrastructure) return;
    const isUnsettled = () => infrastructure.object && unsettled(infrastructure.object) !== undefined;
    this.watch<ReferredObject>(management, infrastructure.ref, ([found]) => {
      const wasUnsettled = isUnsettled();
      infrastructure.object = found;
      this.hasSettled ||= wasUnsettled === true && !isUnsettled();
    }).catch((error: unknown) => isUnsettled() && this.fail(error));
  }

  /** Connects to the workload cluster and watches its nodes, once. */
  watchNodes(seconds: number): void {
    const take = (nodes: Node[]) => {
      this.around.nodes = nodes.map(observePoolNode);
    };
    this.nodes ??= this.run.session
      .workload(seconds)
      .then((workload) => this.watch<Node>(workload, { apiVersion: "v1", kind: "Node" }, take))
      .catch(this.fail);
  }

  /** Decides now and after each change. @throws WaitTimeout; what `decide` throws; why the pool can't be watched */
  until<T>(args: Deadline, decide: () => Probed<T>): Promise<T> {
    return withDeadline(args, (signal, wait) => {
      const decided = new Promise<T>((resolve, reject) => {
        this.onChange = (trouble) => {
          try {
            if (this.failure) throw this.failure.error;
            const found = decide();
            if ("done" in found) resolve(found.done);
            else wait.saw(trouble ?? found.pending);
          } catch (error) {
            reject(error instanceof Error ? error : new Error(String(error)));
          }
        };
      });
      this.onChange();
      return orAborted(decided, signal);
    });
  }

  /** Decides again after some seconds, even if nothing changes. */
  lookAgain(seconds: number): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => !this.run.signal.aborted && this.onChange(), seconds * 1000 + 1);
    this.timer.unref();
  }

  private take(object: object | undefined): void {
    if (object === undefined) throw new PoolMissing(this.run.inputs);
    this.pool = observePool(object);
  }

  private watch<O>(
    client: KubernetesClient,
    what: Pick<FollowArgs<O>, "apiVersion" | "kind" | "namespace" | "name">,
    take: (objects: O[]) => void,
  ): Promise<void> {
    const onObjects = (objects: O[]) => {
      try {
        take(objects);
      } catch (error) {
        return this.fail(error);
      }
      this.onChange();
    };
    return follow<O>(client, {
      ...what,
      signal: this.run.signal,
      onObjects,
      onTrouble: (words) => this.onChange(words),
    });
  }

  private readonly fail = (error: unknown): void => {
    if (this.run.signal.aborted) return;
    this.failure = { error };
    this.onChange();
  };
}
