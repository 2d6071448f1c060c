import { type KubernetesClient, KubernetesError } from "../../../lib/kubernetes";
import { readClusterConfiguration } from "./kubeadm-config";

/**
 * Returns the version of the cluster, MAJOR.MINOR.PATCH, from kubeadm's own ConfigMap: new nodes join with it, and
 * `kubeadm upgrade apply` changes it. Undefined when there is none, or without permission to read it.
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
