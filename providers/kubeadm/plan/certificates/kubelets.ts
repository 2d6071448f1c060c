import type { RolloutNode } from "../rollout/observed";
import { type CertificateReport, KUBELET_CLIENT } from "./report";

/** Returns when a kubelet's client certificate ended; undefined while it is valid, or not known. */
export function kubeletEnded(report: CertificateReport | undefined, now: Date): string | undefined {
  const end = report?.ends.find(({ name }) => name === KUBELET_CLIENT)?.ends;
  return end !== undefined && Date.parse(end) <= now.getTime() ? end : undefined;
}

/**
 * Returns the names of the nodes whose kubelets may not report because their certificates have ended, by what their agents
 * reported last: those also can't report any more.
 */
export function silentKubelets(nodes: readonly RolloutNode[], now: Date): string[] {
  return nodes
    .filter(({ ready, certificates }) => !ready && kubeletEnded(certificates, now) !== undefined)
    .map(({ name }) => name)
    .sort();
}
