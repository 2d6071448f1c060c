import { lowestKubelet, type RolloutState } from "./state";
import { minorOf, minorsBetween, neededVersion, parseVersion } from "./version";

/**
 * Returns why this rollout may not begin, each with what to do; empty when it may. A refused rollout writes
 * nothing.
 */
export function refusalsOf(state: RolloutState): string[] {
  const { version: target, clusterVersion } = state.wish;
  if (!parseVersion(target)) return [`"${target}" is not a version; write MAJOR.MINOR.PATCH, e.g. "1.36.3"`];
  const unreadable = unreadableVersions(state);
  if (unreadable.length > 0) return unreadable;
  const refusals = [...downgrades(state), ...gaps(state)];
  const lowest = lowestKubelet(state);
  if (lowest !== undefined && clusterVersion !== undefined && minorsBetween(clusterVersion, target) > 0) {
    const kubelets = state.controlPlanes.map(({ kubeletVersion }) => kubeletVersion);
    if (kubelets.length > 0 && kubelets.every((kubelet) => minorsBetween(clusterVersion, kubelet) > 0)) {
      refusals.push(
        `every control plane's kubelet is newer than the cluster's own version ${clusterVersion} (kubeadm-config); ` +
          `run \`kubeadm upgrade apply\` on one of them first`,
      );
    }
  }
  return refusals;
}

function unreadableVersions(state: RolloutState): string[] {
  const { clusterVersion } = state.wish;
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
  const { version: target, clusterVersion } = state.wish;
  const newer = state.groups
    .flatMap((group) => group.nodes)
    .filter(({ kubeletVersion }) => minorsBetween(kubeletVersion, target) < 0);
  const words = (what: string) => `${what}, and Kubernetes can't go down a minor to ${target}`;
  if (newer.length > 0) {
    return [words(newer.map(({ name, kubeletVersion }) => `${name} runs ${kubeletVersion}`).join(", "))];
  }
  if (clusterVersion !== undefined && minorsBetween(clusterVersion, target) < 0) {
    return [words(`the cluster's own version is ${clusterVersion} (kubeadm-config)`)];
  }
  return [];
}

/** Refuses if no patch is known for a minor between the current and the target version. */
function gaps(state: RolloutState): string[] {
  const { version: target, intermediates } = state.wish;
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
