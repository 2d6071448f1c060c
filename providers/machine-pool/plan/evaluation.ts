import { type Condition, type ObservedPool } from "./observed";
import { nodeFaults, type ObservedNode } from "./nodes";

/** The stage that a pool waits for; each has its own deadline. */
export type Stage = "bootstrap" | "infrastructure" | "nodes";

/** The desired state of a pool. */
export interface DesiredPool {
  /** undefined: the current value of its spec, when an autoscaler sets it */
  replicas?: number;
  /** Kubernetes version of the nodes; undefined for any */
  version?: string;
}

/** Whether a pool has its desired state, waits for it, or can't reach it by itself. */
export type Evaluation =
  { ready: true } | { waits: { stage: Stage; for: string; held: string } } | { failed: string };

/** The state around the pool itself. */
export interface Context {
  /** whether the Cluster is paused, and the pool with it */
  isClusterPaused: boolean;
  /** Nodes of the workload cluster; undefined until they are read */
  nodes?: readonly ObservedNode[];
  /** why the nodes can't be read */
  nodesSilent?: string;
}

const STAGE_CONDITIONS: Record<Stage, string> = {
  bootstrap: "BootstrapReady",
  infrastructure: "InfrastructureReady",
  nodes: "ReplicasReady",
};

/**
 * Evaluates everything that is known. Phase and the condition ReplicasReady are only reported: the phase depends on
 * counts that are not corrected when a node fails later, and the condition is True before there is any node.
 */
export function evaluate(pool: ObservedPool, desired: DesiredPool, around: Context): Evaluation {
  if (pool.isDeleting) return { failed: "it is being deleted" };
  if (pool.failure !== undefined) return terminalFailureReason(pool.failure);
  const waiting = stageOf(pool, desired, around);
  if (waiting === undefined) return { ready: true };
  const paused = pausedBy(pool, around);
  if (paused !== undefined)
    return { failed: `it is paused by ${paused}, so nothing will happen; ${waiting.for}` };
  return { waits: waiting };
}

/** Returns the evaluation of a terminal failure. */
export function terminalFailureReason(words: string): { failed: string } {
  return { failed: `its controllers have given it up: ${words}` };
}

function pausedBy({ isPaused, name }: ObservedPool, { isClusterPaused }: Context): string | undefined {
  if (isPaused) return `the annotation cluster.x-k8s.io/paused of MachinePool ${name}`;
  return isClusterPaused ? "spec.paused of its Cluster" : undefined;
}

function stageOf(
  pool: ObservedPool,
  desired: DesiredPool,
  { nodes, nodesSilent }: Context,
): { stage: Stage; for: string; held: string } | undefined {
  const wanted = desired.replicas ?? pool.wanted ?? 1;
  const { counts } = pool;
  const waits = (stage: Stage, what: string) => ({ stage, for: what, held: heldBy(pool, stage) });
  if (!pool.isOwned) return waits("bootstrap", "its Cluster to become its owner");
  if (!pool.bootstrapReady) return waits("bootstrap", "bootstrap data");
  if (!pool.infrastructureReady) return waits("infrastructure", "its infrastructure");
  if ((pool.observedGeneration ?? 0) < pool.generation)
    return waits("infrastructure", "its controller to see the change");
  if (pool.wanted !== wanted) return waits("infrastructure", `spec.replicas to be ${wanted}`);
  if (counts.replicas !== wanted)
    return waits("infrastructure", `${wanted} machines, there are ${counts.replicas}`);
  if (pool.providerIDs.length !== wanted)
    return waits("infrastructure", `${wanted} machines, ${pool.providerIDs.length} are listed`);
  // Ignores availableReplicas: Cluster API 1.7 counts every registered node, and 1.11 counts nodes that had been Ready
  // for minReadySeconds at the last count, which is not repeated when they have been.
  const registered = pool.nodes.length;
  if (counts.ready !== wanted || registered !== wanted)
    return waits("nodes", `${wanted} nodes, ${registered} have registered, ${counts.ready} are ready`);
  if (counts.upToDate !== undefined && counts.upToDate !== wanted)
    return waits("nodes", `${wanted} machines of the present template, ${counts.upToDate} are`);
  if (conditionOf(pool, "InfrastructureReady")?.status === "False")
    return waits("infrastructure", "its infrastructure to settle");
  if (nodesSilent !== undefined) return waits("nodes", `the workload cluster to answer: ${nodesSilent}`);
  if (nodes === undefined) return waits("nodes", "its nodes to be looked at");
  const faults = nodeFaults(pool.providerIDs, nodes, desired.version);
  if (faults.length > 0) return waits("nodes", shorten(faults));
  return undefined;
}

const SHOWN = 3;

function shorten(lines: readonly string[]): string {
  const rest = lines.length - SHOWN;
  return lines.slice(0, SHOWN).join(", ") + (rest > 0 ? `, and ${rest} more` : "");
}

function conditionOf({ conditions }: ObservedPool, type: string): Condition | undefined {
  return conditions.find((condition) => condition.type === type);
}

/** Returns the condition that blocks a pool, with reason and message; "" when there is none. */
function heldBy(pool: ObservedPool, stage: Stage): string {
  const found = conditionOf(pool, STAGE_CONDITIONS[stage]);
  if (found === undefined || found.status === "True") return "";
  const why = [found.reason, found.message].filter(Boolean).join(": ");
  return `${found.type} is ${found.status}${why === "" ? "" : ` (${why})`}`;
}

/** Returns a wait in one line: phase, what it waits for, the condition that blocks it. */
export function waitWords(pool: ObservedPool, { for: what, held }: { for: string; held: string }): string {
  return [`phase ${pool.phase ?? "none yet"}`, `waits for ${what}`, ...(held === "" ? [] : [held])].join(
    ", ",
  );
}
