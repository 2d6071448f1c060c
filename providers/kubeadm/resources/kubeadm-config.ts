import { parse, stringify } from "yaml";
import type { KubernetesClient } from "../../../lib/kubernetes";

const REFERENCE = { apiVersion: "v1", kind: "ConfigMap", namespace: "kube-system", name: "kubeadm-config" };

/** What foresail reads and writes of kubeadm's ClusterConfiguration; every other field is kept as it is. */
export interface ClusterConfiguration {
  /** "v1.36.3": what the cluster runs, and what new nodes join with. */
  kubernetesVersion?: unknown;
  apiServer?: { certSANs?: string[] };
}

/**
 * Reads the ClusterConfiguration that kubeadm keeps in the cluster, from which `kubeadm join` and `kubeadm upgrade`
 * work. Undefined when there is none.
 * @throws KubernetesError when it may not be read
 */
export async function readClusterConfiguration(
  kubernetes: KubernetesClient,
): Promise<ClusterConfiguration | undefined> {
  const configMap = await kubernetes.get<{ data?: Record<string, string> }>(REFERENCE);
  const text = configMap?.data?.ClusterConfiguration;
  return text ? ((parse(text) as ClusterConfiguration | null) ?? undefined) : undefined;
}

/** Writes the ClusterConfiguration back. */
export async function writeClusterConfiguration(
  kubernetes: KubernetesClient,
  configuration: ClusterConfiguration,
): Promise<void> {
  await kubernetes.mergePatch(REFERENCE, {
    // kubeadm reads YAML 1.1, where a bare yes, off or 0777 is no text
    data: { ClusterConfiguration: stringify(configuration, { schema: "yaml-1.1" }) },
  });
}
