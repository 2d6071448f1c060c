import { lowestKubelet, type RolloutState } from "./state";
import { minorOf, minorsBetween, neededVersion, parseVersion } from "./versions";
import type { RolloutNode } from "./observed";

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
  const nodes = state.groups.flatMap((group) => group.nodes);
  const found = nodes
    .filter(({ kubeletVersion }) => !parseVersion(kubeletVersion))
    .map(({ name, kubeletVersion }) =>
      kubeletVersion === ""
        ? `${name} has not reported its kubelet's version`
        : `${name} runs the kubelet ${kubeletVersion}, which is not a released version`,
    );
  if (clusterVersion !== undefined && !parseVersion(clusterVersion)) {
    found.push(`kubeadm-config names the version ${clusterVersion}, which is not a released version`);
  }
  return found;
}

/** Refuses if any node runs a newer minor, since Kubernetes can't be downgraded across minors. */
function downgrades(state: RolloutState): string[] {
  const { version: target, clusterVersion } = state.desired;
  const newer = state.groups
    .flatMap((group) => group.nodes)
    .filter(({ kubeletVersion }) => minorsBetween(kubeletVersion, target) < 0)
    .map(({ name, kubeletVersion }) => `${name} runs ${kubeletVersion}`);
  if (newer.length === 0 && clusterVersion !== undefined && minorsBetween(clusterVersion, target) < 0)
    newer.push(`the cluster's own version is ${clusterVersion} (kubeadm-config)`);
  return newer.length === 0 ? [] : [`${newer.join(", ")}, and Kubernetes can't go down a minor to ${target}`];
}

/** Refuses if no patch is known for a minor between the current and the target version; both have to be readable. */
export function missingIntermediates(state: RolloutState): string[] {
  const { version: target, intermediates } = state.desired;
  if (!parseVersion(target) || unreadableVersions(state).length > 0) return [];
  let lowest = lowestKubelet(state);
  while (lowest !== undefined && lowest !== target) {
    const next = neededVersion({ lowest, target, intermediates });
    if (next === undefined) {
      return [
        `from ${lowest} the next minor comes first, and no patch of the minor after ${minorOf(lowest)} is known here; ` +
          `name one in rollout.intermediateVersions`,
      ];
    }
    lowest = next;
  }
  return [];
}

/** Returns how many minors a kubelet may be older than its API server (kubernetes.io, version skew policy). */
function kubeletLag(kubelet: string): number {
  return (parseVersion(kubelet)?.minor ?? 0) < 25 ? 2 : 3;
}

/** Returns how the cluster's current versions violate the skew policy. */
export function presentSkew(nodes: readonly RolloutNode[]): string[] {
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
    const than = (plane: RolloutNode) => `than the control plane ${plane.name} (${plane.kubeletVersion})`;
    return [
      ...(behind ? [`${name}'s kubelet ${version} is newer ${than(behind)}`] : []),
      ...(ahead ? [`${name}'s kubelet ${version} is more than ${limit} minors older ${than(ahead)}`] : []),
    ];
  });
}

/**
 * Returns why the control planes can't go to a version while paused or unreachable nodes keep theirs, or undefined:
 * those kubelets would be too old, or two API servers would be more than one minor apart.
 */
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

function restingNodes(state: RolloutState): RolloutNode[] {
  return state.groups.flatMap(({ nodes }) => nodes.filter(({ name }) => state.resting.has(name)));
}
