/** A pod of the cluster's DNS; a Pod of the API has this shape. */
export interface DnsPod {
  metadata?: { name?: string; namespace?: string; uid?: string; deletionTimestamp?: string };
  spec?: { nodeName?: string };
  status?: { phase?: string };
}

/**
 * The DNS pods that should move: kubeadm starts them on the first control plane, and there they would stay, so that
 * names could not be resolved for minutes after that machine dies. One stays, so that names are resolved all along.
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
