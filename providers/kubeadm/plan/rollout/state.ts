import { CONTROL_PLANE_GROUP } from "../machine";
import {
  maxUnavailableCount,
  isDue,
  type RolloutOptions,
  type RolloutPool,
  type DesiredRollout,
} from "./desired";
import type { RolloutNode } from "./observed";
import { compareVersions, minorsBetween, neededVersion } from "./versions";
import type { CommonStep } from "../../../../lib/steps/steps";

/** A pool with its Nodes that are in the cluster, in rollout order. */
export interface Group {
  pool: RolloutPool;
  controlPlane: boolean;
  /** How many may be away at once. */
  maximum: number;
  nodes: RolloutNode[];
}

/** The observed cluster next to the desired state: the input of every decision of a rollout. */
export interface RolloutState {
  desired: DesiredRollout;
  groups: Group[];
  controlPlanes: RolloutNode[];
  /** Names of paused nodes, including those of paused pools. */
  paused: ReadonlySet<string>;
  /** Workers that have work to do but are unreachable. */
  leftOut: readonly LeftOut[];
  /** Names of all nodes that are left as they are: paused, or left out. */
  resting: ReadonlySet<string>;
}

/** Sorts the Nodes into the desired pools. Nodes that are in no pool are ignored. */
export function rolloutState(
  nodes: readonly RolloutNode[],
  desired: DesiredRollout,
  options: Pick<RolloutOptions, "begun" | "unreached"> = {},
): RolloutState {
  const byName = new Map(nodes.map((node) => [node.name, node]));
  const groups = desired.pools.map((pool): Group => {
    const controlPlane = pool.name === CONTROL_PLANE_GROUP;
    // taken from the pool and not from the Node's label: a deleted Node comes back without the label
    const members = pool.machines.flatMap((name) => {
      const node = byName.get(name);
      return node ? [node.controlPlane === controlPlane ? node : { ...node, controlPlane }] : [];
    });
    const maximum = controlPlane ? 1 : maxUnavailableCount(pool.maxUnavailable, members.length);
    return { pool, controlPlane, maximum, nodes: members };
  });
  const pausedPools = groups.filter(({ pool }) => pool.paused).flatMap(({ pool }) => pool.machines);
  const controlPlanes = groups.filter(({ controlPlane }) => controlPlane).flatMap((group) => group.nodes);
  // without permission to read kubeadm-config: the first control plane at a version has brought the cluster to it
  const clusterVersion = desired.clusterVersion ?? highest(controlPlanes);
  const paused = new Set([...desired.pausedNodes, ...pausedPools]);
  const leftOut = groups.flatMap((group) => leftOutOf(group, desired, paused, options));
  return {
    desired: { ...desired, clusterVersion },
    groups,
    controlPlanes,
    paused,
    leftOut,
    resting: new Set([...paused, ...leftOut.map(({ node }) => node)]),
  };
}

/**
 * Leaves out only nodes that have not begun and are not done: a node that fails during the rollout, or after it,
 * stops the others. Control planes are never left out, since workers may not be newer than them.
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

/** Returns the lowest kubelet version of the nodes that roll; undefined when none does. */
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

/** Returns the version of the cluster's current pass: what the lowest kubelet needs next. */
export function passVersion(state: RolloutState): string | undefined {
  const lowest = lowestKubelet(state);
  const { version: target, intermediates } = state.desired;
  return lowest === undefined ? undefined : neededVersion({ lowest, target, intermediates });
}

/**
 * Returns a node's version in this pass. Only the target version may be lower than the node's, never an
 * intermediate one.
 */
export function wantedVersion(node: RolloutNode, pass: string, desired: DesiredRollout): string {
  if (pass === desired.version || compareVersions(node.kubeletVersion, pass) < 0) return pass;
  return node.kubeletVersion;
}

/** Returns whether this pass has something to do on a node that is neither paused nor left out. */
export function isDueInPass(node: RolloutNode, pass: string, state: RolloutState): boolean {
  if (state.resting.has(node.name)) return false;
  return isDue(node, state.desired, wantedVersion(node, pass, state.desired));
}

/** Returns whether a worker's version has no newer minor than any API server. */
export function fitsControlPlanes(state: RolloutState, version: string): boolean {
  return state.controlPlanes.every(({ kubeletVersion }) => minorsBetween(kubeletVersion, version) <= 0);
}

function highest(nodes: readonly RolloutNode[]): string | undefined {
  return nodes
    .map(({ kubeletVersion }) => kubeletVersion)
    .sort(compareVersions)
    .at(-1);
}

/** A worker that a rollout leaves as it is because its machine is unreachable. The next run continues with it. */
export interface LeftOut {
  node: string;
  /** Why it is left out, with the details that are known. */
  reason: string;
}

/**
 * Returns why a worker is out of reach, or undefined: its kubelet stopped reporting, or SSH did not reach its
 * machine.
 */
export function outOfReach(node: RolloutNode, unreached: readonly string[]): string | undefined {
  if (node.unreachable) return `its Node is not Ready (${node.reason ?? "the kubelet has not reported"})`;
  return unreached.includes(node.name) ? "its machine could not be reached over SSH" : undefined;
}

/** Returns the step for the resource that would have changed the machine. */
export function leftOutStep({ node: machine, reason: why }: LeftOut): CommonStep {
  return { kind: "leftOut", machine, why };
}

/** Returns the message at the end of a run that completed all nodes but these. */
export function onlyLeftOut(leftOut: readonly LeftOut[]): string {
  return `every other node is done; ${leftOut.map(({ node, reason }) => `${node} was left out, ${reason}`).join("; ")}`;
}

export const LEFT_OUT_NEXT =
  "start its machine and run the command again; or pause it (rollout.pausedNodes), or take it out of the configuration and list it under `lost`";
