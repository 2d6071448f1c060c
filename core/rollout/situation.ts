import { CONTROL_PLANE_GROUP } from "../machine";
import { maxUnavailableCount } from "./maximum";
import type { RolloutNode } from "./observed";
import { compareVersions, minorsBetween, neededVersion } from "./version";
import { isDue, type RolloutPool, type RolloutWish } from "./wish";

/** A pool with the Nodes that it has in the cluster, in the order in which they roll. */
export interface Group {
  pool: RolloutPool;
  controlPlane: boolean;
  /** how many may be away at once */
  maximum: number;
  nodes: RolloutNode[];
}

/** The cluster and the wish side by side: what every decision of a rollout starts from. */
export interface Situation {
  wish: RolloutWish;
  groups: Group[];
  controlPlanes: RolloutNode[];
  /** names of the nodes that are left as they are, by themselves or with their pool */
  paused: ReadonlySet<string>;
}

/** Sorts the Nodes into the wish's pools. Nodes that no pool names are left alone. */
export function situationOf(nodes: readonly RolloutNode[], wish: RolloutWish): Situation {
  const byName = new Map(nodes.map((node) => [node.name, node]));
  const groups = wish.pools.map((pool): Group => {
    const members = pool.machines.flatMap((name) => byName.get(name) ?? []);
    const controlPlane = pool.name === CONTROL_PLANE_GROUP;
    const maximum = controlPlane ? 1 : maxUnavailableCount(pool.maxUnavailable, members.length);
    return { pool, controlPlane, maximum, nodes: members };
  });
  const resting = groups.filter(({ pool }) => pool.paused).flatMap(({ pool }) => pool.machines);
  const controlPlanes = groups.filter(({ controlPlane }) => controlPlane).flatMap((group) => group.nodes);
  // without the right to read kubeadm-config: the first control plane to have a version brought the cluster to it
  const clusterVersion = wish.clusterVersion ?? highest(controlPlanes);
  return {
    wish: { ...wish, clusterVersion },
    groups,
    controlPlanes,
    paused: new Set([...wish.pausedNodes, ...resting]),
  };
}

/** The lowest kubelet of the nodes that roll; undefined when none does. */
export function lowestKubelet(situation: Situation): string | undefined {
  let lowest: string | undefined;
  for (const { nodes } of situation.groups) {
    for (const { name, kubeletVersion } of nodes) {
      if (kubeletVersion === lowest || situation.paused.has(name)) continue;
      if (lowest === undefined || compareVersions(kubeletVersion, lowest) < 0) lowest = kubeletVersion;
    }
  }
  return lowest;
}

/** The version of the pass that the cluster is in: what the lowest kubelet needs next. */
export function passVersion(situation: Situation): string | undefined {
  const lowest = lowestKubelet(situation);
  const { version: target, intermediates } = situation.wish;
  return lowest === undefined ? undefined : neededVersion({ lowest, target, intermediates });
}

/** A node's version in this pass. No node goes down to a version between; only the target itself may be lower. */
export function wantedVersion(node: RolloutNode, pass: string, wish: RolloutWish): string {
  if (pass === wish.version || compareVersions(node.kubeletVersion, pass) < 0) return pass;
  return node.kubeletVersion;
}

/** Whether this pass has something to do on a node that is not paused. */
export function isDueInPass(node: RolloutNode, pass: string, situation: Situation): boolean {
  if (situation.paused.has(node.name)) return false;
  return isDue(node, situation.wish, wantedVersion(node, pass, situation.wish));
}

/** Whether a worker's version is of no newer minor than every API server. */
export function fitsControlPlanes(situation: Situation, version: string): boolean {
  return situation.controlPlanes.every(({ kubeletVersion }) => minorsBetween(kubeletVersion, version) <= 0);
}

function highest(nodes: readonly RolloutNode[]): string | undefined {
  return nodes
    .map(({ kubeletVersion }) => kubeletVersion)
    .sort(compareVersions)
    .at(-1);
}
