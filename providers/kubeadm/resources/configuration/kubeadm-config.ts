import { stringify } from "yaml";
import { type KubernetesClient, KubernetesError } from "../../../../lib/kubernetes";
import { kubeadmConfigMap, readKubeadmObject } from "../../client/kubeadm-object";

const NAME = "kubeadm-config";

/** Fields of kubeadm's ClusterConfiguration that foresail reads or writes; other fields are kept unchanged. */
interface ClusterConfiguration {
  /** "v1.36.3": the version of the cluster, with which new nodes join. */
  kubernetesVersion?: unknown;
  apiServer?: { certSANs?: string[] };
}

/** Reads what kubeadm stores in the cluster for `kubeadm join` and `kubeadm upgrade`, if anything. */
const readClusterConfiguration = (kubernetes: KubernetesClient): Promise<ClusterConfiguration | undefined> =>
  readKubeadmObject(kubernetes, NAME, "ClusterConfiguration");

/** Adds names to those that kubeadm writes into the certificate of an API server. */
export async function addCertificateNames(kubernetes: KubernetesClient, names: string[]): Promise<void> {
  const configuration = await readClusterConfiguration(kubernetes);
  if (!configuration) return;
  const have = configuration.apiServer?.certSANs ?? [];
  const missing = names.filter((name) => !have.includes(name));
  if (missing.length === 0) return;
  const apiServer = { ...configuration.apiServer, certSANs: [...have, ...missing] };
  // kubeadm reads YAML 1.1, where an unquoted yes, off or 0777 is not a string
  const data = { ClusterConfiguration: stringify({ ...configuration, apiServer }, { schema: "yaml-1.1" }) };
  await kubernetes.mergePatch(kubeadmConfigMap(NAME), { data });
}

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
