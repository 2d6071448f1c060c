import { acceptedKubeconfig, FetchedKubeconfig, type KubernetesClient } from "../../../lib/kubernetes";
import { readEndpoints } from "../../../lib/kubernetes/kubeconfig";
import { API, azimuthRefs, isOf } from "../plan/names";
import { type MachineDeployment, type Readiness, readiness } from "../plan/readiness";
import { type RecordRef, readClusterObjects } from "./cluster-record";
import { listServed } from "./cluster-services";

type Reader = Pick<KubernetesClient, "get" | "list">;

/** A cluster's readiness, and its administrator's kubeconfig as soon as Cluster API has written it. */
export interface ClusterReadiness {
  readiness: Readiness;
  kubeconfig?: string;
}

/**
 * Reads whether a cluster's machines are ready, and its kubeconfig.
 *
 * @throws KubernetesError; KubeconfigRefused
 */
export async function readClusterAccess(client: Reader, ref: RecordRef): Promise<ClusterReadiness> {
  const { namespace, cluster, leaseName } = ref;
  const kind = { apiVersion: API.clusterApi, kind: "MachineDeployment", namespace };
  const secret = azimuthRefs(ref).kubeconfig;
  const [objects, listed, found] = await Promise.all([
    readClusterObjects(client, ref),
    listServed<MachineDeployment>(client, kind),
    client.get<{ data?: { value?: string } }>(secret),
  ]);
  const deployments = listed.filter((object) => isOf(cluster, object));
  const options = { leased: leaseName !== undefined, now: Date.now() };
  const fetched = FetchedKubeconfig.inSecret(secret, found);
  // certificates that can't be read are of no use to kubectl either
  if (fetched) await readEndpoints({ kubeconfig: fetched });
  const kubeconfig = fetched && acceptedKubeconfig(fetched);
  return { readiness: readiness({ ...objects, deployments }, options), kubeconfig };
}
