import { dnsPodsToMove } from "../plan/membership/nodes";
import type { ClusterSession } from "./cluster-session";
import { report } from "../../../lib/pulumi/log";
import { observeNodes } from "./observed-nodes";

const DNS_PODS = { namespace: "kube-system", labelSelector: "k8s-app=kube-dns" };

/**
 * Spreads the DNS pods when all are on one node, with the eviction API; the scheduler then prefers another node. A pod
 * that can't be moved now is only reported, since the nodes have joined anyway.
 */
export async function spreadClusterDns(session: ClusterSession): Promise<void> {
  const { kubernetes, resource } = session;
  try {
    const [pods, nodes] = await Promise.all([kubernetes.listPods(DNS_PODS), observeNodes(kubernetes)]);
    const takers = nodes
      .filter(({ ready, unschedulable }) => ready && !unschedulable)
      .map(({ name }) => name);
    for (const { metadata, spec } of dnsPodsToMove(pods, takers)) {
      const { namespace = "", name = "", uid } = metadata ?? {};
      await kubernetes.evict({ namespace, name, uid });
      report(resource, `moved ${name} away from ${spec?.nodeName}, where all of the cluster's DNS was`);
    }
  } catch (error) {
    report(
      resource,
      `the cluster's DNS stays on one node: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}
