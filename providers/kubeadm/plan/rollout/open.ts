import { KUBERNETES_SOFTWARE } from "./annotations";
import { KNOWN_PATCHES } from "./known-patches";
import type { RolloutNode } from "./observed";
import { fitsControlPlanes, type RolloutState } from "./state";
import { compareVersions, minorsBetween, parseVersion } from "./version";

/** Whether something was already asked of an open node's agent, or done by it, that has not ended. */
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
 * The version at which a started node is finished: the one that it was told, as long as the wish can still pass
 * through it. So an open node ends what was reviewed for it and nothing else, even when its own new kubelet is what
 * made the next pass the cluster's pass. A wish that has moved on (from a patch that can't be installed, say) goes
 * before what was told.
 *
 * @param pass the version of the pass that the cluster is in
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
