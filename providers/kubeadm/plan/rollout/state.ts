import type { CommonStep } from "../../../../lib/steps/steps";
import { CONTROL_PLANE_GROUP } from "../cluster/machine";
import type { NodeRolloutStep } from "../steps";
import { isDue, maxUnavailableCount } from "./desired";
import type { DesiredRollout, RolloutOptions, RolloutPool } from "./desired";
import type { RolloutNode } from "./observed";
import { compareVersions, minorOf, minorsBetween, neededVersion, parseVersion } from "./versions";
import { listedSentences } from "../../../../lib/text/quote";

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
  /** Names of nodes that wait until later runs have replaced machines. */
  held: ReadonlySet<string>;
  /** Names of machines for which all nodes wait. */
  awaited: readonly string[];
  /** Names of all nodes that are left as they are: paused, left out, or held. */
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
  const versions = controlPlanes.map(({ kubeletVersion }) => kubeletVersion).sort(compareVersions);
  const clusterVersion = desired.clusterVersion ?? versions.at(-1);
  const paused = new Set([...desired.pausedNodes, ...pausedPools]);
  const { held, awaited } = heldNodes(groups, desired);
  const leftOut = groups.flatMap((group) =>
    leftOutOf(group, desired, new Set([...paused, ...held]), options),
  );
  return {
    desired: { ...desired, clusterVersion },
    groups,
    controlPlanes,
    paused,
    leftOut,
    held,
    awaited,
    resting: new Set([...paused, ...held, ...leftOut.map(({ node }) => node)]),
  };
}

/**
 * Returns the nodes that keep their versions because later runs replace machines: those machines, which would otherwise
 * be upgraded and then deleted. If one of them is a control plane, or is too old for the control planes to go ahead, all
 * nodes wait: versions go to all control planes first, and to workers after them.
 */
function heldNodes(
  groups: readonly Group[],
  { version, leavingLater = [] }: DesiredRollout,
): Pick<RolloutState, "held" | "awaited"> {
  const nodes = groups.flatMap((group) => group.nodes);
  const leaving = nodes.filter(({ name }) => leavingLater.includes(name));
  const awaited = leaving
    .filter((node) => node.controlPlane || isTooOld(node.kubeletVersion, version))
    .map(({ name }) => name);
  return { held: new Set((awaited.length > 0 ? nodes : leaving).map(({ name }) => name)), awaited };
}

/** Returns whether a kubelet is too old for an API server of a version; false when either can't be parsed. */
function isTooOld(kubelet: string, version: string): boolean {
  if (!parseVersion(kubelet) || !parseVersion(version)) return false;
  return minorsBetween(kubelet, version) > kubeletLag(kubelet);
}

/** Returns the step for a node that has something to do and waits; undefined for others. */
export function heldStep(
  { name: machine, kubeletVersion: version }: RolloutNode,
  { desired, held, awaited: machines }: RolloutState,
): NodeRolloutStep | undefined {
  if (!held.has(machine)) return undefined;
  if (desired.leavingLater?.includes(machine)) return { kind: "leavesLater", machine, version };
  return { kind: "waits", machine, version, machines };
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
function lowestKubelet(state: RolloutState): string | undefined {
  let lowest: string | undefined;
  for (const { name, kubeletVersion } of state.groups.flatMap(({ nodes }) => nodes)) {
    if (kubeletVersion === lowest || state.resting.has(name)) continue;
    if (lowest === undefined || compareVersions(kubeletVersion, lowest) < 0) lowest = kubeletVersion;
  }
  return lowest;
}

/** Returns the version of the cluster's current pass: what the lowest kubelet needs next. */
export function passVersion(state: RolloutState): string | undefined {
  const lowest = lowestKubelet(state);
  const { version: target, intermediates } = state.desired;
  return lowest === undefined ? undefined : neededVersion(lowest, target, intermediates);
}

/** Returns a node's version in this pass. Only the target may be lower than the node's, never an intermediate one. */
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

/** A worker that a rollout leaves as it is because its machine is unreachable. The next run continues with it. */
export interface LeftOut {
  node: string;
  /** Why it is left out, with the details that are known. */
  reason: string;
}

/** Returns why a worker is out of reach, or undefined: its kubelet stopped reporting, or SSH did not reach it. */
export function outOfReach(node: RolloutNode, unreached: readonly string[]): string | undefined {
  if (node.unreachable) return `its Node is not Ready (${node.reason ?? "the kubelet has not reported"})`;
  return unreached.includes(node.name) ? "its machine could not be reached over SSH" : undefined;
}

/** Returns the step for the resource that would have changed the machine. */
export function leftOutStep({ node: machine, reason: why }: LeftOut): CommonStep {
  return { kind: "leftOut", machine, why };
}

/** Returns the message at the end of a run that completed all nodes but these. @param excess why it is an error */
export function onlyLeftOut(leftOut: readonly LeftOut[], excess?: string): string {
  const each = listedSentences(leftOut.map(({ node, reason }) => `${node} was left out, ${reason}`));
  return ["every other node is done", each, ...(excess === undefined ? [] : [excess])].join("; ");
}

export const LEFT_OUT_NEXT =
  "start its machine and run the command again; or pause it (rollout.pausedNodes), or take it out of the configuration and list it under `lost`";

/** Returns why this rollout may not begin, each with what to do; empty when it may. A refused rollout writes nothing. */
export function refusalsOf(state: RolloutState): string[] {
  const { version: target, clusterVersion } = state.desired;
  if (!parseVersion(target)) return [`"${target}" is not a version; write MAJOR.MINOR.PATCH, e.g. "1.36.3"`];
  const unreadable = unreadableVersions(state);
  if (unreadable.length > 0) return unreadable;
  const refusals = [...downgrades(state), ...missingIntermediates(state)];
  const rolls = lowestKubelet(state) !== undefined && state.controlPlanes.length > 0;
  if (!rolls || clusterVersion === undefined || minorsBetween(clusterVersion, target) <= 0) return refusals;
  const areNewer = state.controlPlanes.every(
    ({ kubeletVersion }) => minorsBetween(clusterVersion, kubeletVersion) > 0,
  );
  const message =
    `every control plane's kubelet is newer than the cluster's own version ${clusterVersion} (kubeadm-config); ` +
    `run \`kubeadm upgrade apply\` on one of them first`;
  return areNewer ? [...refusals, message] : refusals;
}

function unreadableVersions(state: RolloutState): string[] {
  const { clusterVersion } = state.desired;
  const found = nodesOf(state)
    .filter(({ kubeletVersion }) => !parseVersion(kubeletVersion))
    .map(({ name, kubeletVersion }) =>
      kubeletVersion === ""
        ? `${name} has not reported its kubelet's version`
        : `${name} runs the kubelet ${kubeletVersion}, which is not a released version`,
    );
  if (clusterVersion !== undefined && !parseVersion(clusterVersion))
    found.push(`kubeadm-config names the version ${clusterVersion}, which is not a released version`);
  return found;
}

/** Refuses if any node runs a newer minor, since Kubernetes can't be downgraded across minors. */
function downgrades(state: RolloutState): string[] {
  const { version: target, clusterVersion } = state.desired;
  const newer = nodesOf(state)
    .filter(({ kubeletVersion }) => minorsBetween(kubeletVersion, target) < 0)
    .map(({ name, kubeletVersion }) => `${name} runs ${kubeletVersion}`);
  if (newer.length === 0 && clusterVersion !== undefined && minorsBetween(clusterVersion, target) < 0)
    newer.push(`the cluster's own version is ${clusterVersion} (kubeadm-config)`);
  return newer.length === 0
    ? []
    : [`${listedSentences(newer, ", ")}, and Kubernetes can't go down a minor to ${target}`];
}

/** Refuses if no patch is known for a minor between the current and the target version; both have to be readable. */
export function missingIntermediates(state: RolloutState): string[] {
  const { version: target, intermediates } = state.desired;
  if (!parseVersion(target) || unreadableVersions(state).length > 0) return [];
  let lowest = lowestKubelet(state);
  while (lowest !== undefined && lowest !== target) {
    const next = neededVersion(lowest, target, intermediates);
    if (next === undefined)
      return [
        `from ${lowest} the next minor comes first, and no patch of the minor after ${minorOf(lowest)} is known here; name one in rollout.intermediateVersions`,
      ];
    lowest = next;
  }
  return [];
}

/** Returns how many minors a kubelet may be older than its API server (kubernetes.io, version skew policy). */
function kubeletLag(kubelet: string): number {
  return (parseVersion(kubelet)?.minor ?? 0) < 25 ? 2 : 3;
}

/** The facts of a node that the skew policy is about. */
type VersionedNode = Pick<RolloutNode, "name" | "controlPlane" | "kubeletVersion">;

/** Returns how the cluster's current versions violate the skew policy. */
export function presentSkew(nodes: readonly VersionedNode[]): string[] {
  const planes = nodes.filter(({ controlPlane }) => controlPlane);
  return nodes.flatMap((node) => {
    const { name, kubeletVersion: version } = node;
    const planeAhead = (least: number) =>
      planes.find((plane) => minorsBetween(version, plane.kubeletVersion) > least);
    if (node.controlPlane) {
      const apart = planeAhead(1);
      if (!apart) return [];
      return `the control planes ${name} (${version}) and ${apart.name} (${apart.kubeletVersion}) are more than one minor apart`;
    }
    const behind = planes.find((plane) => minorsBetween(plane.kubeletVersion, version) > 0);
    const limit = kubeletLag(version);
    const ahead = planeAhead(limit);
    const than = (plane: VersionedNode) => `than the control plane ${plane.name} (${plane.kubeletVersion})`;
    return [
      ...(behind ? [`${name}'s kubelet ${version} is newer ${than(behind)}`] : []),
      ...(ahead ? [`${name}'s kubelet ${version} is more than ${limit} minors older ${than(ahead)}`] : []),
    ];
  });
}

/** Returns why the control planes can't go to a version while resting nodes keep theirs, which would be too old. */
export function refuseControlPlanes(state: RolloutState, version: string): string | undefined {
  for (const node of restingNodes(state)) {
    const behind = minorsBetween(node.kubeletVersion, version);
    if (node.controlPlane ? behind <= 1 : behind <= kubeletLag(node.kubeletVersion)) continue;
    const rule = node.controlPlane
      ? "API servers may not be more than one minor apart"
      : `a kubelet may not be more than ${kubeletLag(node.kubeletVersion)} minors older than its API server`;
    const [condition, fix] = state.paused.has(node.name)
      ? ["paused", "resume it first"]
      : ["out of reach", "bring it back, or take it out of the configuration first"];
    return `${node.name} is ${condition} at ${node.kubeletVersion}, so the control planes can't go to ${version}: ${rule}; ${fix}`;
  }
  return undefined;
}

/** Returns why the workers can't go to a version while a paused control plane keeps an older one, or undefined. */
export function refuseWorkers(state: RolloutState, version: string): string | undefined {
  const behind = restingNodes(state).find(
    (node) => node.controlPlane && minorsBetween(node.kubeletVersion, version) > 0,
  );
  if (!behind) return undefined;
  return `the control plane ${behind.name} is paused at ${behind.kubeletVersion}, so no worker can go to ${version}: a kubelet may not be newer than an API server; resume it first`;
}

const nodesOf = ({ groups }: RolloutState) => groups.flatMap(({ nodes }) => nodes);
const restingNodes = (state: RolloutState) => nodesOf(state).filter(({ name }) => state.resting.has(name));
