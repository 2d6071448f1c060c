import { type KubernetesClient, KubernetesError } from "../../../lib/kubernetes";
import { readClusterConfiguration } from "./kubeadm-config";

/**
 * The version that kubeadm has brought the cluster to, MAJOR.MINOR.PATCH, as its own ConfigMap keeps it: what new
 * nodes join with, and what `kubeadm upgrade apply` changes. Undefined when there is none, or when it may not be read.
 */
export async function clusterVersion(kubernetes: KubernetesClient): Promise<string | undefined> {
  try {
    const version = (await readClusterConfiguration(kubernetes))?.kubernetesVersion;
    return typeof version === "string" ? version.replace(/^v/, "") : undefined;
  } catch (error) {
    if (error instanceof KubernetesError && error.status === 403) return undefined;
    throw error;
  }
}
