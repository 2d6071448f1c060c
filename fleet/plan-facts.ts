import { KubernetesClient, KubernetesError } from "../clients/kubernetes";
import {
  clusterVersionOf,
  type Budget,
  type ClusterFacts,
  type ForecastPod,
} from "../core/plan-report/facts";
import { seenCertificates } from "./plan-certificates";
import type { ChosenContext } from "./plan-kubeconfig";

/** What is read besides the nodes, and what a forecast lacks without it. */
const READS = {
  pods: { path: "/api/v1/pods", lack: "list pods: drains were not looked at" },
  budgets: {
    path: "/apis/policy/v1/poddisruptionbudgets",
    lack: "list PodDisruptionBudgets: whether they hold a drain is unknown",
  },
  kubeadm: {
    path: "/api/v1/namespaces/kube-system/configmaps/kubeadm-config",
    lack: "get the ConfigMap kube-system/kubeadm-config: the control planes' kubelets stand for the cluster's version",
  },
  metrics: { path: "/metrics", lack: "get /metrics: which API versions are in use is unknown" },
};

/**
 * Reads a cluster: five GETs and a look at the API server's certificate, nothing that changes anything. A right that
 * is missing is a note; only the nodes must be readable.
 *
 * @throws KubernetesUnreachable, KubernetesError
 */
export async function readFacts(chosen: ChosenContext, seconds: number): Promise<ClusterFacts> {
  const client = await KubernetesClient.connect({ kubeconfig: chosen.kubeconfig }, { seconds });
  const notes: string[] = [];
  const read = async ({ path, lack }: { path: string; lack: string }): Promise<unknown> => {
    try {
      return await client.call({ method: "GET", path }, true);
    } catch (error) {
      if (!(error instanceof KubernetesError)) throw error;
      if (error.status === 403 || error.status === 401) notes.push(`these credentials may not ${lack}`);
      else if (error.status === 404) notes.push(`the cluster has no ${path}: ${lack.replace(/^.*?: /, "")}`);
      else throw error;
      return undefined;
    }
  };
  try {
    const server = client.servers[0] ?? "";
    const nodes = await client.listNodes();
    const pods = (await read(READS.pods)) as { items: ForecastPod[] } | undefined;
    const budgets = (await read(READS.budgets)) as { items: Budget[] } | undefined;
    const kubeadm = (await read(READS.kubeadm)) as { data?: Record<string, string> } | undefined;
    const metrics = await read(READS.metrics);
    return {
      server,
      nodes,
      pods: pods?.items,
      budgets: budgets?.items,
      clusterVersion: clusterVersionOf(kubeadm?.data?.ClusterConfiguration),
      certificates: await seenCertificates(server, chosen),
      metrics: typeof metrics === "string" ? metrics : undefined,
      notes,
    };
  } finally {
    client.close();
  }
}
