import type { RolloutNode } from "./observed";
import type { RolloutState } from "./state";
import { minorsBetween, parseVersion } from "./version";

/** Returns how many minors a kubelet may be older than its API server (kubernetes.io, version skew policy). */
function kubeletLag(kubelet: string): number {
  return (parseVersion(kubelet)?.minor ?? 0) < 25 ? 2 : 3;
}

/** Returns how the cluster's current versions violate the skew policy. */
export function presentSkew(nodes: readonly RolloutNode[]): string[] {
  const planes = nodes.filter(({ controlPlane }) => controlPlane);
  const found: string[] = [];
  for (const node of nodes) {
    const newer = planes.find((plane) => minorsBetween(plane.kubeletVersion, node.kubeletVersion) > 0);
    if (newer && !node.controlPlane) {
      found.push(
        `${node.name}'s kubelet ${node.kubeletVersion} is newer than the control plane ${newer.name} (${newer.kubeletVersion})`,
      );
    }
    const limit = kubeletLag(node.kubeletVersion);
    const ahead = planes.find((plane) => minorsBetween(node.kubeletVersion, plane.kubeletVersion) > limit);
    if (ahead && !node.controlPlane) {
      found.push(
        `${node.name}'s kubelet ${node.kubeletVersion} is more than ${limit} minors older than the control plane ${ahead.name} (${ahead.kubeletVersion})`,
      );
    }
    const apart = planes.find((plane) => minorsBetween(node.kubeletVersion, plane.kubeletVersion) > 1);
    if (apart && node.controlPlane) {
      found.push(
        `the control planes ${node.name} (${node.kubeletVersion}) and ${apart.name} (${apart.kubeletVersion}) are more than one minor apart`,
      );
    }
  }
  return found;
}

/**
 * Returns why the control planes can't go to a version while paused or unreachable nodes keep theirs, or undefined:
 * those kubelets would be too old, or two API servers would be more than one minor apart.
 */
export function refuseControlPlanes(situation: RolloutState, version: string): string | undefined {
  for (const node of restingNodes(situation)) {
    const behind = minorsBetween(node.kubeletVersion, version);
    if (node.controlPlane ? behind <= 1 : behind <= kubeletLag(node.kubeletVersion)) continue;
    const rule = node.controlPlane
      ? "API servers may not be more than one minor apart"
      : `a kubelet may not be more than ${kubeletLag(node.kubeletVersion)} minors older than its API server`;
    const [state, fix] = situation.paused.has(node.name)
      ? ["paused", "resume it first"]
      : ["out of reach", "bring it back, or take it out of the configuration first"];
    return `${node.name} is ${state} at ${node.kubeletVersion}, so the control planes can't go to ${version}: ${rule}; ${fix}`;
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
