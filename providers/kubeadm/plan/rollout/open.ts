import { KUBERNETES_SOFTWARE } from "./annotations";
import { KNOWN_PATCHES } from "./known-patches";
import type { RolloutNode } from "./observed";
import { fitsControlPlanes, type RolloutState } from "./state";
import { compareVersions, minorsBetween, parseVersion } from "./version";

/** Returns whether an open node has work that was requested from its agent, or done by it, and has not finished. */
export function isStarted(node: RolloutNode): boolean {
  if (node.agentReady === false) return true;
  const kubelet = node.kubeletVersion;
  return (
    KUBERNETES_SOFTWARE.some(
      (name) => (node.desired[name] ?? kubelet) !== kubelet || (node.current[name] ?? kubelet) !== kubelet,
    ) ||
    Object.keys(node.desired).some(
      (name) => node.desired[name] !== (node.current[name] ?? node.desired[name]),
    )
  );
}

/**
 * Returns the version at which a started node is finished: its desired version, as long as the rollout can still
 * pass through it. So an open node finishes exactly what was reviewed for it, even when its own new kubelet
 * advances the cluster to the next pass. If the configuration has changed since (for example because a patch can't
 * be installed), the new desired state takes precedence over the version on the node.
 *
 * @param pass version of the cluster's current pass
 */
export function goalOf(node: RolloutNode, pass: string | undefined, state: RolloutState): string {
  const reported = node.desired.kubelet;
  if (reported !== undefined && leadsOn(node, reported, state)) return reported;
  const next = pass ?? state.wish.version;
  const step = minorsBetween(node.kubeletVersion, next);
  if (step < 0 || step > 1) return node.kubeletVersion;
  return node.controlPlane || fitsControlPlanes(state, next) ? next : node.kubeletVersion;
}

function leadsOn(node: RolloutNode, reported: string, state: RolloutState): boolean {
  const { version: target, intermediates } = state.wish;
  if (!parseVersion(reported)) return false;
  const step = minorsBetween(node.kubeletVersion, reported);
  if (step < 0 || step > 1) return false;
  if (reported !== target) {
    const known = intermediates.includes(reported) || Object.values(KNOWN_PATCHES).includes(reported);
    const between =
      minorsBetween(reported, target) > 0 && compareVersions(reported, node.kubeletVersion) >= 0;
    if (!known || !between) return false;
  }
  return node.controlPlane || fitsControlPlanes(state, reported);
}
