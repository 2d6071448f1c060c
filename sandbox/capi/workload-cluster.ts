import type { KubernetesClient } from "../../lib/kubernetes";
import { waitFor } from "../../lib/wait";
import { CLUSTER_API, CLUSTER_GROUP } from "./kinds";

/** Nothing connects to it. */
export const ENDPOINT = { host: "127.0.0.1", port: 6443 };

/**
 * Creates a Cluster object whose control plane was created elsewhere, and the Secret with which Cluster API connects to
 * it: the minimum for its machine pools.
 *
 * @param kubeconfig of the workload cluster, with an address that this host can reach
 * @param infrastructureRef the provider's object of the cluster; default: none, so its infrastructure is ready at once
 */
export async function registerCluster(
  kubernetes: KubernetesClient,
  { namespace, name }: { namespace: string; name: string },
  kubeconfig: string,
  infrastructureRef?: { apiVersion: string; kind: string; name: string },
): Promise<void> {
  const apply = (object: Parameters<KubernetesClient["apply"]>[0]) =>
    kubernetes.apply(object, { fieldManager: "sandbox", force: true });
  await apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
  await apply({
    apiVersion: "v1",
    kind: "Secret",
    // the stock manager caches only Secrets with this label
    metadata: { name: `${name}-kubeconfig`, namespace, labels: { [`${CLUSTER_GROUP}/cluster-name`]: name } },
    type: `${CLUSTER_GROUP}/secret`,
    data: { value: Buffer.from(kubeconfig).toString("base64") },
  });
  const cluster = { apiVersion: CLUSTER_API, kind: "Cluster", namespace, name };
  await apply({
    apiVersion: CLUSTER_API,
    kind: "Cluster",
    metadata: { name, namespace },
    spec: { controlPlaneEndpoint: ENDPOINT, ...(infrastructureRef && { infrastructureRef }) },
  });
  const condition = {
    type: "ControlPlaneInitialized",
    status: "True",
    lastTransitionTime: new Date().toISOString(),
  };
  // used by Cluster API 1.11 and newer; older versions drop it
  const v1beta2 = { conditions: [{ ...condition, reason: "Initialized", message: "" }] };
  const status = { infrastructureReady: true, controlPlaneReady: true, conditions: [condition], v1beta2 };
  await kubernetes.mergePatch(cluster, { status }, { subresource: "status" });
  await waitFor<void>({
    what: `Cluster ${namespace}/${name} to be reconciled`,
    seconds: 60,
    probe: async () => {
      const found = await kubernetes.get<{ status?: { phase?: string } }>(cluster);
      return found?.status?.phase === undefined ? { pending: "no phase yet" } : { done: undefined };
    },
  });
}
