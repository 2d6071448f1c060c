import { type Condition, reasonOf } from "../../kubernetes/plan/status";
import { defined, inBrackets, type ObservedPool } from "./observed";

/** The stage that a pool waits for; each has its own deadline. */
export type Stage = "bootstrap" | "infrastructure" | "nodes";

/** The desired state of a pool. */
export interface DesiredPool {
  /** undefined: the current value of its spec, when an autoscaler sets it */
  replicas?: number;
  /** Kubernetes version of the nodes; undefined for any */
  version?: string;
}

/** What a pool waits for, and the condition that blocks it ("" without one). */
interface Wait {
  stage: Stage;
  for: string;
  held: string;
  /** whether the pool itself reports success, so that only its nodes must be checked */
  asksForNodes?: true;
}

/** Whether a pool has its desired state, waits for it, or can't reach it by itself. */
export type Evaluation = { ready: true } | { waits: Wait } | { failed: string };

/** The state around the pool itself. */
interface Context {
  /** whether the Cluster is paused, and the pool with it */
  isClusterPaused: boolean;
  /** Nodes of the workload cluster; undefined until they are read */
  nodes?: readonly ObservedNode[];
  /** why the nodes can't be read */
  nodesSilent?: string;
}

/**
 * Evaluates everything that is known. Phase and the condition ReplicasReady are only reported: the phase depends on
 * counts that are not corrected when a node fails later, and the condition is True before there is any node.
 */
export function evaluate(pool: ObservedPool, desired: DesiredPool, around: Context): Evaluation {
  if (pool.isDeleting) return { failed: "it is being deleted" };
  if (pool.failure !== undefined) return terminalFailureReason(pool.failure);
  const waits = waitOf(pool, desired, around);
  if (waits === undefined) return { ready: true };
  const paused = pool.isPaused
    ? `the annotation cluster.x-k8s.io/paused of MachinePool ${pool.name}`
    : around.isClusterPaused && "spec.paused of its Cluster";
  return paused ? { failed: `it is paused by ${paused}, so nothing will happen; ${waits.for}` } : { waits };
}

/** Returns the evaluation of a terminal failure. */
export function terminalFailureReason(words: string): { failed: string } {
  return { failed: `its controllers have given it up: ${words}` };
}

/** Returns whether the pool itself reports success, so that its nodes must be checked. */
export function asksForNodes(evaluation: Evaluation): boolean {
  return "waits" in evaluation && evaluation.waits.asksForNodes === true;
}

/**
 * Returns the first thing that a pool waits for. Ignores availableReplicas: Cluster API 1.7 counts every registered
 * node, and 1.11 counts nodes that had been Ready for minReadySeconds at the last count, which is not repeated when
 * they have been.
 */
function waitOf(pool: ObservedPool, desired: DesiredPool, { nodes, nodesSilent }: Context): Wait | undefined {
  const wanted = desired.replicas ?? pool.wanted ?? 1;
  const { replicas, ready, upToDate = wanted } = pool.counts;
  const { length: listed } = pool.providerIDs;
  const { length: registered } = pool.nodes;
  const isSettling = conditionOf(pool, "InfrastructureReady")?.status === "False";
  const waits: [isUnmet: boolean, stage: Stage, what: string][] = [
    [!pool.isOwned, "bootstrap", "its Cluster to become its owner"],
    [!pool.bootstrapReady, "bootstrap", "bootstrap data"],
    [!pool.infrastructureReady, "infrastructure", "its infrastructure"],
    [(pool.observedGeneration ?? 0) < pool.generation, "infrastructure", "its controller to see the change"],
    [pool.wanted !== wanted, "infrastructure", `spec.replicas to be ${wanted}`],
    [replicas !== wanted, "infrastructure", `${wanted} machines, there are ${replicas}`],
    [listed !== wanted, "infrastructure", `${wanted} machines, ${listed} are listed`],
    [
      ready !== wanted || registered !== wanted,
      "nodes",
      `${wanted} nodes, ${registered} have registered, ${ready} are ready`,
    ],
    [upToDate !== wanted, "nodes", `${wanted} machines of the present template, ${upToDate} are`],
    [isSettling, "infrastructure", "its infrastructure to settle"],
    [nodesSilent !== undefined, "nodes", `the workload cluster to answer: ${nodesSilent}`],
  ];
  const wait = (stage: Stage, what: string): Wait => ({ stage, for: what, held: heldBy(pool, stage) });
  const unmet = waits.find(([isUnmet]) => isUnmet);
  if (unmet) return wait(unmet[1], unmet[2]);
  if (nodes === undefined) return { ...wait("nodes", "its nodes to be looked at"), asksForNodes: true };
  const faults = nodeFaults(pool.providerIDs, nodes, desired.version);
  return faults.length === 0 ? undefined : wait("nodes", shorten(faults));
}

const SHOWN = 3;

function shorten(lines: readonly string[]): string {
  const rest = lines.length - SHOWN;
  return lines.slice(0, SHOWN).join(", ") + (rest > 0 ? `, and ${rest} more` : "");
}

function conditionOf({ conditions }: ObservedPool, type: string): Condition | undefined {
  return conditions.find((condition) => condition.type === type);
}

const CONDITIONS: Record<Stage, string> = {
  bootstrap: "BootstrapReady",
  infrastructure: "InfrastructureReady",
  nodes: "ReplicasReady",
};

/** Returns the condition that blocks a pool, with reason and message; "" when there is none. */
function heldBy(pool: ObservedPool, stage: Stage): string {
  const found = conditionOf(pool, CONDITIONS[stage]);
  return !found || found.status === "True" ? "" : `${found.type} is ${found.status}${inBrackets(found)}`;
}

/** Returns a wait in one line: phase, what it waits for, the condition that blocks it. */
export function waitWords({ phase }: ObservedPool, { for: what, held }: Pick<Wait, "for" | "held">): string {
  const words = `phase ${phase ?? "none yet"}, waits for ${what}`;
  return held === "" ? words : `${words}, ${held}`;
}

/** The parts of a Node of the workload cluster that a pool needs. */
export interface ObservedNode {
  name: string;
  providerID?: string;
  isReady: boolean;
  /** why it is not Ready, from the kubelet or the node controller */
  reason?: string;
  /** the last transition of Ready: an ISO time */
  since?: string;
  /** kubelet version: "v1.29.4" */
  version?: string;
}

interface NodeObject {
  metadata?: { name?: string };
  spec?: { providerID?: string };
  status?: {
    conditions?: (Condition & { lastTransitionTime?: string })[];
    nodeInfo?: { kubeletVersion?: string };
  };
}

/** Returns the observed state of a Node. */
export function observeNode({ metadata, spec, status }: NodeObject): ObservedNode {
  const ready = status?.conditions?.find(({ type }) => type === "Ready");
  const why = reasonOf(ready ?? {});
  const reason = ready ? `Ready is ${ready.status}${why && `, ${why}`}` : "no condition Ready";
  const isReady = ready?.status === "True";
  return {
    name: metadata?.name ?? "",
    isReady,
    ...defined({
      providerID: spec?.providerID,
      reason: isReady ? undefined : reason,
      since: ready?.lastTransitionTime,
      version: status?.nodeInfo?.kubeletVersion,
    }),
  };
}

/** Returns a version with its "v", as Cluster API's webhook does. */
export function withV(version: string): string {
  return version.startsWith("v") ? version : `v${version}`;
}

/**
 * Returns one line for each missing property of a pool's nodes: each listed machine needs a Node that is Ready and has
 * the desired version. Does not use the pool's own counts, which stay unchanged when a node fails later.
 *
 * @param providerIDs of the pool's machines
 * @param version desired kubelet version; undefined for any
 */
export function nodeFaults(
  providerIDs: readonly string[],
  nodes: readonly ObservedNode[],
  version: string | undefined,
): string[] {
  const wanted = version === undefined ? undefined : withV(version);
  // a map, because a pool may have a thousand nodes and each change of one calls this again
  const registered = new Map(nodes.map((node) => [node.providerID, node]));
  return providerIDs.flatMap((providerID) => {
    const node = registered.get(providerID);
    if (node === undefined) return [`no node has registered for ${providerID}`];
    if (wanted !== undefined && node.version !== undefined && node.version !== wanted)
      return [`node ${node.name} runs ${node.version}, not ${wanted} yet`];
    return node.isReady ? [] : [`node ${node.name} is not Ready (${node.reason})`];
  });
}

/**
 * Returns how long it takes until every node of a pool has been Ready for `minReadySeconds`, if none fails meanwhile;
 * at most that long, even if the nodes' clocks differ.
 *
 * @param providerIDs of the pool's machines
 * @param now milliseconds since 1970
 * @returns seconds; 0 when all have been
 */
export function secondsUntilAvailable(
  providerIDs: readonly string[],
  nodes: readonly ObservedNode[],
  minReadySeconds: number,
  now: number,
): number {
  if (minReadySeconds === 0) return 0;
  const left = nodes
    .filter(({ providerID, since }) => since !== undefined && providerIDs.includes(providerID ?? ""))
    .map(({ since = "" }) => minReadySeconds - (now - Date.parse(since)) / 1000);
  return Math.min(minReadySeconds, Math.max(0, ...left));
}

/**
 * Returns the transitions from Cluster API's figure of MachinePool provisioning that a pool has completed, in the
 * figure's order; a new line is a transition that has just happened.
 */
function transitions(pool: ObservedPool): string[] {
  const { counts, wanted = 1, dataSecretName, phase } = pool;
  const { replicas, ready, available } = counts;
  const data = dataSecretName === undefined ? "" : `, data in the Secret ${dataSecretName}`;
  const unavailable = Math.max(0, replicas - available);
  const lines = [
    pool.isOwned && "its Cluster has become its owner",
    pool.bootstrapReady && `bootstrap is ready${data}`,
    pool.infrastructureReady && "infrastructure is ready",
    phase !== undefined && `phase ${phase}`,
    pool.infrastructureReady &&
      `${replicas} of ${wanted} replicas: ${ready} ready, ${available} available, ${unavailable} unavailable`,
  ];
  return lines.filter((line) => line !== false);
}

/** The state of a pool from an earlier run. */
export type PoolAsKnown = Partial<Pick<ObservedPool, "phase" | "counts" | "wanted">>;

/** Reports each transition once, when it happens. */
export class Transitions {
  private last: Set<string> | undefined;

  /**
   * @param before the pool at the end of the last run, so that transitions before the first read are reported, too;
   *   undefined for a new pool, whose transitions are all new
   */
  constructor(private readonly before: PoolAsKnown | undefined) {}

  /** @returns the lines that are new since the last call */
  seen(pool: ObservedPool): string[] {
    const lines = transitions(pool);
    const known = this.last ?? new Set(this.before ? transitions({ ...pool, ...this.before }) : []);
    const fresh = lines.filter((line) => !known.has(line));
    this.last = new Set(lines);
    return fresh;
  }
}
