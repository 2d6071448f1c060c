import { type Condition, reasonOf } from "../../kubernetes/plan/status";
import {
  defined,
  inBrackets,
  type ObservedPool,
  type ReferredObject,
  terminalFailure,
  unsettled,
} from "./observed";
import type { OutdatedMachines } from "./roll";
import { listed as listOf } from "../../../lib/text/quote";

/** The stage that a pool waits for; each has its own deadline. */
export type Stage = "bootstrap" | "infrastructure" | "nodes";

/** The desired state of a pool. */
export interface DesiredPool {
  /** undefined: the current value of its spec, when an autoscaler sets it */
  replicas?: number;
  /** Kubernetes version of the nodes; undefined for any */
  version?: string;
  /** the machines that a change of the template has to replace */
  outdated?: readonly OutdatedMachines[];
}

/** Returns the provider ids of the machines that must go and are still there. */
export function machinesToGo({ providerIDs }: ObservedPool, { outdated = [] }: DesiredPool): string[] {
  const must = new Set(outdated.flatMap(({ machines }) => machines));
  return providerIDs.filter((id) => must.has(id));
}

/** What a pool waits for, and the condition that blocks it ("" without one). */
interface Wait {
  stage: Stage;
  for: string;
  held: string;
  /** whether the pool itself reports success, so that only its nodes must be checked */
  isOfNodes?: true;
}

/** Whether a pool has its desired state, waits for it, or can't reach it by itself. */
export type Evaluation = { ready: true } | { waits: Wait } | { failed: string };

/** An object that a pool refers to. */
export interface Beside {
  /** such as "SandboxMachinePool pool-a" */
  name: string;
  /** undefined when there is no such object */
  object: ReferredObject | undefined;
}

/** The state around the pool itself. */
export interface PoolContext {
  /** whether the Cluster is paused, and the pool with it */
  isClusterPaused: boolean;
  /** what creates its join data and its machines; undefined when they can't be read */
  bootstrap?: Beside;
  infrastructure?: Beside;
  /** Nodes of the workload cluster; undefined until they are read */
  nodes?: readonly ObservedPoolNode[];
  /** why the nodes can't be read */
  nodesSilent?: string;
}

/**
 * Evaluates everything that is known. Phase and the condition ReplicasReady are only reported: the phase depends on
 * counts that are not corrected when a node fails later, and the condition is True before there is any node. Cluster
 * API 1.7 copies the failure of an object that the pool refers to; the controllers of 1.11.1 to 1.14.2 fail on it and
 * report nothing.
 */
export function evaluate(pool: ObservedPool, desired: DesiredPool, around: PoolContext): Evaluation {
  if (pool.isDeleting) return { failed: "it is being deleted" };
  const failure = pool.failure ?? failureOf(around.bootstrap) ?? failureOf(around.infrastructure);
  if (failure !== undefined) return { failed: `its controllers have given it up: ${failure}` };
  const others = ownedByOthers(pool, around.bootstrap) ?? ownedByOthers(pool, around.infrastructure);
  if (others !== undefined) return { failed: others };
  const waits = waitOf(pool, desired, around);
  if (waits === undefined) return { ready: true };
  const paused = pool.isPaused
    ? `the annotation cluster.x-k8s.io/paused of MachinePool ${pool.name}`
    : around.isClusterPaused && "spec.paused of its Cluster";
  const isStuck = paused && !waits.isOfNodes;
  return isStuck ? { failed: `it is paused by ${paused}, so nothing will happen; ${waits.for}` } : { waits };
}

function failureOf(beside: Beside | undefined): string | undefined {
  const words = beside?.object && terminalFailure(beside.object);
  return words === undefined ? undefined : `${beside?.name}: ${words}`;
}

/** The pool becomes the controller of the objects that it refers to. */
const controllerOf = (beside: Beside | undefined) =>
  beside?.object?.metadata?.ownerReferences?.find(({ controller }) => controller === true);

/** Returns why a pool never gets an object that it refers to: an object has one controller. */
function ownedByOthers({ uid }: ObservedPool, beside: Beside | undefined): string | undefined {
  const controller = controllerOf(beside);
  if (controller === undefined || controller.uid === uid) return undefined;
  const { kind, name } = controller;
  return `${beside?.name} belongs to ${kind} ${name}, and Cluster API does not take it from there; name an object of this pool's own`;
}

/**
 * Returns the first thing that a pool waits for. Ignores availableReplicas: Cluster API 1.7 counts every registered
 * node, and 1.11 counts nodes that had been Ready for minReadySeconds at the last count, which is not repeated when
 * they have been.
 */
function waitOf(
  pool: ObservedPool,
  desired: DesiredPool,
  { nodes, nodesSilent, bootstrap, infrastructure }: PoolContext,
): Wait | undefined {
  const wanted = desired.replicas ?? pool.wanted ?? 1;
  const { replicas, ready, upToDate = wanted } = pool.counts;
  const { length: listed } = pool.providerIDs;
  const { length: registered } = pool.nodes;
  const isUnowned = (beside: Beside | undefined) => beside?.object !== undefined && !controllerOf(beside);
  const old = machinesToGo(pool, desired);
  const isSettling = conditionOf(pool, "InfrastructureReady")?.status === "False";
  const waits: [isUnmet: boolean, stage: Stage, what: string][] = [
    [!pool.isOwned, "bootstrap", "its Cluster to become its owner"],
    [isUnowned(bootstrap), "bootstrap", `the pool to become the owner of ${bootstrap?.name}`],
    [!pool.bootstrapReady, "bootstrap", "bootstrap data"],
    [isUnowned(infrastructure), "infrastructure", `the pool to become the owner of ${infrastructure?.name}`],
    [!pool.infrastructureReady, "infrastructure", "its infrastructure"],
    [(pool.observedGeneration ?? 0) < pool.generation, "infrastructure", "its controller to see the change"],
    [
      old.length > 0,
      "infrastructure",
      `${old.length} of ${listed} machines to be replaced, which are of an earlier template: ${listOf(old, { most: SHOWN })}`,
    ],
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
  const ofNodes = (what: string): Wait => ({ ...wait("nodes", what), isOfNodes: true });
  if (nodes === undefined) return ofNodes("its nodes to be looked at");
  const faults = nodeFaults(pool.providerIDs, nodes, desired.version);
  if (faults.length > 0) return ofNodes(listOf(faults, { most: SHOWN, longest: 300 }));
  const why = infrastructure?.object && unsettled(infrastructure.object);
  return why === undefined ? undefined : wait("infrastructure", `${infrastructure?.name}: ${why}`);
}

const SHOWN = 3;

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
export function waitWords({ phase }: ObservedPool, { for: what, held }: Wait): string {
  const words = `phase ${phase ?? "none yet"}, waits for ${what}`;
  return held === "" ? words : `${words}, ${held}`;
}

/** The parts of a Node of the workload cluster that a pool needs. */
export interface ObservedPoolNode {
  name: string;
  providerID?: string;
  isReady: boolean;
  /** why it is not Ready, from the kubelet or the node controller */
  reason?: string;
  /** the last transition of Ready: an ISO time */
  since?: string;
  /** kubelet version: "v1.29.4" */
  version?: string;
  /** when it registered: an ISO time */
  created?: string;
}

interface NodeObject {
  metadata?: { name?: string; creationTimestamp?: string };
  spec?: { providerID?: string };
  status?: {
    conditions?: (Condition & { lastTransitionTime?: string })[];
    nodeInfo?: { kubeletVersion?: string };
  };
}

/** Returns the observed state of a Node. */
export function observePoolNode({ metadata, spec, status }: NodeObject): ObservedPoolNode {
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
      created: metadata?.creationTimestamp,
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
function nodeFaults(
  providerIDs: readonly string[],
  nodes: readonly ObservedPoolNode[],
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
  nodes: readonly ObservedPoolNode[],
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
function transitions(pool: ObservedPool, { bootstrap, infrastructure }: Partial<PoolContext>): string[] {
  const { counts, wanted = 1, dataSecretName, phase } = pool;
  const { replicas, ready, available } = counts;
  // the name of a managed pool's Secret is empty
  const data = !dataSecretName ? "" : `, data in the Secret ${dataSecretName}`;
  const unavailable = Math.max(0, replicas - available);
  const lines = [
    pool.isOwned && "its Cluster has become its owner",
    controllerOf(bootstrap) && `the pool has become the owner of ${bootstrap?.name}`,
    pool.bootstrapReady && `bootstrap is ready${data}`,
    controllerOf(infrastructure) && `the pool has become the owner of ${infrastructure?.name}`,
    pool.infrastructureReady && "infrastructure is ready",
    phase !== undefined && `phase ${phase}`,
    pool.infrastructureReady &&
      `${replicas} of ${wanted} replicas: ${ready} ready, ${available} available, ${unavailable} unavailable`,
  ];
  return lines.filter((line) => typeof line === "string");
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
  seen(pool: ObservedPool, around: Partial<PoolContext> = {}): string[] {
    const lines = transitions(pool, around);
    const known = this.last ?? new Set(this.before ? transitions({ ...pool, ...this.before }, around) : []);
    const fresh = lines.filter((line) => !known.has(line));
    this.last = new Set(lines);
    return fresh;
  }
}
