/** A pod of the cluster's DNS, in the shape of a Pod of the API. */
export interface DnsPod {
  metadata?: { name?: string; namespace?: string; uid?: string; deletionTimestamp?: string };
  spec?: { nodeName?: string };
  status?: { phase?: string };
}

/**
 * Returns the DNS pods to move. kubeadm starts all of them on the first control plane; if they stayed there, names
 * could not be resolved for minutes after that machine dies. One pod stays, so that names can be resolved during the
 * move.
 *
 * @param nodes names of the nodes that could take a pod
 */
export function dnsPodsToMove<P extends DnsPod>(pods: readonly P[], nodes: readonly string[]): P[] {
  const running = pods.filter(
    ({ metadata, status }) => !metadata?.deletionTimestamp && status?.phase === "Running",
  );
  const [first, ...others] = [...running].sort((one, other) =>
    (one.metadata?.name ?? "").localeCompare(other.metadata?.name ?? "", "en"),
  );
  const home = first?.spec?.nodeName;
  const isSpread = others.some(({ spec }) => spec?.nodeName !== home);
  return isSpread || !nodes.some((node) => node !== home) ? [] : others;
}
