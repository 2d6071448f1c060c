import { KindNotServed, type KubernetesClient, type ListArgs } from "../../../lib/kubernetes";
import type { AddonObject, ControlPlane, Machine } from "../plan/entries";
import { API, CLUSTER_LABEL } from "../plan/names";
import type { ClusterObjects } from "../plan/record";
import type { ClusterStatus } from "../plan/status";

/** A cluster and its Lease. */
export interface RecordRef {
  namespace: string;
  cluster: string;
  leaseName?: string;
}

type Reader = Pick<KubernetesClient, "get" | "list">;

const recordRef = ({ namespace, cluster }: RecordRef) => ({
  apiVersion: API.azimuth,
  kind: "Cluster",
  namespace,
  name: cluster,
});

/** Returns the record's status; undefined when there is no record. */
export async function readRecord(client: Reader, ref: RecordRef): Promise<ClusterStatus | undefined> {
  const record = await client.get<{ status?: ClusterStatus }>(recordRef(ref));
  return record && (record.status ?? {});
}

/** Writes a merge patch of the record's status. */
export async function patchRecord(
  client: Pick<KubernetesClient, "mergePatch">,
  ref: RecordRef,
  status: object,
): Promise<void> {
  await client.mergePatch(recordRef(ref), { status }, { subresource: "status" });
}

/** Returns the objects of a cluster that its record describes. */
export async function readClusterObjects(client: Reader, ref: RecordRef): Promise<ClusterObjects> {
  const { namespace, cluster, leaseName } = ref;
  const own = async <O>(apiVersion: string, kind: string): Promise<O[]> =>
    served<O>(client, {
      apiVersion,
      kind,
      namespace,
      labelSelector: `${CLUSTER_LABEL}=${cluster}`,
    });
  const [machines, releases, manifests, controlPlanes, capi, lease] = await Promise.all([
    own<Machine>(API.clusterApi, "Machine"),
    own<AddonObject>(API.addons, "HelmRelease"),
    own<AddonObject>(API.addons, "Manifests"),
    own<ControlPlane>(API.controlPlane, "KubeadmControlPlane"),
    client.get<{ status?: { phase?: string } }>({
      apiVersion: API.clusterApi,
      kind: "Cluster",
      namespace,
      name: cluster,
    }),
    leaseName === undefined
      ? undefined
      : client.get<{ status?: { phase?: string } }>({
          apiVersion: API.scheduling,
          kind: "Lease",
          namespace,
          name: leaseName,
        }),
  ]);
  const [controlPlane] = controlPlanes;
  return {
    machines,
    addons: [...releases, ...manifests],
    ...(controlPlane ? { controlPlane } : {}),
    ...(capi ? { networkingPhase: capi.status?.phase ?? "Unknown" } : {}),
    ...(lease ? { leasePhase: lease.status?.phase ?? "Unknown" } : {}),
  };
}

/** Returns no objects for a kind that is not served. */
async function served<O>(client: Reader, args: ListArgs): Promise<O[]> {
  try {
    return await client.list<O>(args);
  } catch (error) {
    if (error instanceof KindNotServed) return [];
    throw error;
  }
}
