import type { KubernetesClient } from "../../lib/kubernetes";
import { observeNode } from "../../providers/kubeadm/resources/membership/observed-nodes";

/** The Nodes by name, sorted, as far as "the same cluster" goes. */
export async function observedCluster(
  kubernetes: KubernetesClient,
): Promise<Record<string, { group: string | undefined; ready: boolean }>> {
  const nodes = (await kubernetes.listNodes()).map(observeNode);
  return Object.fromEntries(
    nodes
      .sort((one, other) => one.name.localeCompare(other.name))
      .map(({ name, group, ready }) => [name, { group, ready }]),
  );
}
