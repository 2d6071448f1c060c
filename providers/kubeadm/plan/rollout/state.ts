import { CONTROL_PLANE_GROUP } from "../machine";
import { maxUnavailableCount } from "./maximum";
import type { RolloutNode } from "./observed";
import { compareVersions, minorsBetween, neededVersion } from "./version";
import { outOfReach, type LeftOut } from "./left-out";
import { isDue, type RolloutOptions, type RolloutPool, type DesiredRollout } from "./desired";

/** A pool with the Nodes that it has in the cluster, in the order in which they roll. */
export interface Group {
  pool: RolloutPool;
  controlPlane: boolean;
  /** how many may be away at once */
  maximum: number;
  nodes: RolloutNode[];
}

/** The cluster and the wish side by side: what every decision of a rollout starts from. */
export interface RolloutState {
  wish: DesiredRollout;
  groups: Group[];
  controlPlanes: RolloutNode[];
  /** names of the nodes that are left as they are, by themselves or with their pool */
  paused: ReadonlySet<string>;
  /** workers that something would be done to if their machines were within reach */
  leftOut: readonly LeftOut[];
  /** names of all that are left as they are: paused, or left out */
  resting: ReadonlySet<string>;
}

/** Sorts the Nodes into the wish's pools. Nodes that no pool names are left alone. */
export function rolloutState(
  nodes: readonly RolloutNode[],
  desired: DesiredRollout,
  options: Pick<RolloutOptions, "begun" | "unreached"> = {},
): RolloutState {
  const byName = new Map(nodes.map((node) => [node.name, node]));
  const groups = desired.pools.map((pool): Group => {
    const controlPlane = pool.name === CONTROL_PLANE_GROUP;
    // by the pool and not by the Node's label: a Node that was deleted comes back without it
    const members = pool.machines.flatMap((name) => {
      const node = byName.get(name);
      return node ? [node.controlPlane === controlPlane ? node : { ...node, controlPlane }] : [];
    });
    const maximum = controlPlane ? 1 : maxUnavailableCount(pool.maxUnavailable, members.length);
    return { pool, controlPlane, maximum, nodes: members };
  });
  const pausedPools = groups.filter(({ pool }) => pool.paused).flatMap(({ pool }) => pool.machines);
  const controlPlanes = groups.filter(({ controlPlane }) => controlPlane).flatMap((group) => group.nodes);
  // without the right to read kubeadm-config: the first control plane to have a version brought the cluster to it
  const clusterVersion = desired.clusterVersion ?? highest(controlPlanes);
  const paused = new Set([...desired.pausedNodes, ...pausedPools]);
  const leftOut = groups.flatMap((group) => leftOutOf(group, desired, paused, options));
  return {
    wish: { ...desired, clusterVersion },
    groups,
    controlPlanes,
    paused,
    leftOut,
    resting: new Set([...paused, ...leftOut.map(({ node }) => node)]),
  };
}

/**
 * Only what has not begun and is not done: a node that fails under the rollout, or after it, stops the others. Control
 * planes are never left out, since workers may not be newer than them.
 */
function leftOutOf(
  { controlPlane, nodes }: Group,
  desired: DesiredRollout,
  paused: ReadonlySet<string>,
  { begun = [], unreached = [] }: Pick<RolloutOptions, "begun" | "unreached">,
): LeftOut[] {
  if (controlPlane) return [];
  return nodes.flatMap((node) => {
    const reason = outOfReach(node, unreached);
    if (reason === undefined || paused.has(node.name) || begun.includes(node.name)) return [];
    const hasWork =
      node.changesAllowed || isDue(node, desired, desired.version) || unreached.includes(node.name);
    return hasWork ? [{ node: node.name, reason }] : [];
  });
}

/** The lowest kubelet of the nodes that roll; undefined when none does. */
export function lowestKubelet(state: RolloutState): string | undefined {
  let lowest: string | undefined;
  for (const { nodes } of state.groups) {
    for (const { name, kubeletVersion } of nodes) {
      if (kubeletVersion === lowest || state.resting.has(name)) continue;
      if (lowest === undefined || compareVersions(kubeletVersion, lowest) < 0) lowest = kubeletVersion;
    }
  }
  return lowest;
}

/** The version of the pass that the cluster is in: what the lowest kubelet needs next. */
export function passVersion(state: RolloutState): string | undefined {
  const lowest = lowestKubelet(state);
  const { version: target, intermediates } = state.wish;
  return lowest === undefined ? undefined : neededVersion({ lowest, target, intermediates });
}

/** A node's version in this pass. No node goes down to a version between; only the target itself may be lower. */
export function wantedVersion(node: RolloutNode, pass: string, desired: DesiredRollout): string {
  if (pass === desired.version || compareVersions(node.kubeletVersion, pass) < 0) return pass;
  return node.kubeletVersion;
}

/** Whether this pass has something to do on a node that is neither paused nor left out. */
export function isDueInPass(node: RolloutNode, pass: string, state: RolloutState): boolean {
  if (state.resting.has(node.name)) return false;
  return isDue(node, state.wish, wantedVersion(node, pass, state.wish));
}

/** Whether a worker's version is of no newer minor than every API server. */
export function fitsControlPlanes(state: RolloutState, version: string): boolean {
  return state.controlPlanes.every(({ kubeletVersion }) => minorsBetween(kubeletVersion, version) <= 0);
}

function highest(nodes: readonly RolloutNode[]): string | undefined {
  return nodes
    .map(({ kubeletVersion }) => kubeletVersion)
    .sort(compareVersions)
    .at(-1);
}
