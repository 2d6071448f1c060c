import {
  type KubernetesClient,
  FetchedKubeconfig,
  KindNotServed,
  KubernetesError,
} from "../../../lib/kubernetes";
import { MONITOR_MANAGER } from "../../kubernetes/plan/adoption";
import {
  ADDON_CLUSTER_LABEL,
  API,
  kubeconfigSecretName,
  platformName,
  SERVICES_ANNOTATION,
} from "../plan/names";
import {
  planServices,
  type Addon,
  type Reservation,
  type ServicePlan,
  servicesChange,
  type ServicesChange,
  type ServicesSeen,
} from "../plan/services";

/** The cluster that the services belong to. */
export interface ServicesRef {
  namespace: string;
  cluster: string;
  /** whether there is a Cluster record with a status */
  hasRecord: boolean;
}

/** The field manager for all writes about services, in an `up` and in the monitor. */
const SERVICES_MANAGER = MONITOR_MANAGER;

/** Returns the addons of a cluster, including the apps that users added. */
async function listAddons(
  management: Pick<KubernetesClient, "list">,
  { namespace, cluster }: ServicesRef,
): Promise<Addon[]> {
  const lists = await Promise.all(
    ["HelmRelease", "Manifests"].map(async (kind) => {
      const labelSelector = `${ADDON_CLUSTER_LABEL}=${cluster}`;
      const addons = await management.list<Addon>({ apiVersion: API.addons, kind, namespace, labelSelector });
      return addons.map((addon) => ({ ...addon, kind }));
    }),
  );
  return lists.flat();
}

/** Returns the kubeconfig of the cluster itself; undefined until Cluster API has created it. */
export async function readTargetKubeconfig(
  management: Pick<KubernetesClient, "get">,
  { namespace, cluster }: ServicesRef,
): Promise<FetchedKubeconfig | undefined> {
  const ref = { apiVersion: "v1", kind: "Secret", namespace, name: kubeconfigSecretName(cluster) };
  return FetchedKubeconfig.inSecret(ref, await management.get(ref));
}

/** Returns the Reservations of a cluster; none where the kind is not installed yet. */
export async function listReservations(target: Pick<KubernetesClient, "list">): Promise<Reservation[]> {
  try {
    return await target.list<Reservation>({ apiVersion: API.zenith, kind: "Reservation" });
  } catch (error) {
    if (error instanceof KindNotServed) return [];
    throw error;
  }
}

const clusterRef = ({ namespace, cluster }: ServicesRef) => ({
  apiVersion: API.azimuth,
  kind: "Cluster",
  namespace,
  name: cluster,
});

const platformRef = ({ namespace, cluster }: ServicesRef) => ({
  apiVersion: API.identity,
  kind: "Platform",
  namespace,
  name: platformName(cluster),
});

/** Returns the services of a cluster as recorded on the management cluster. */
export async function readServices(
  management: Pick<KubernetesClient, "get" | "list">,
  ref: ServicesRef,
): Promise<ServicesSeen> {
  const [record, platform, addons] = await Promise.all([
    ref.hasRecord
      ? management.get<{ status?: { services?: ServicesSeen["status"] } }>(clusterRef(ref))
      : undefined,
    management.get<{ spec?: { zenithServices?: ServicesSeen["platform"] } }>(platformRef(ref)),
    listAddons(management, ref),
  ]);
  return {
    addons,
    ...(record ? { status: record.status?.services ?? {} } : {}),
    ...(platform ? { platform: platform.spec?.zenithServices ?? {} } : {}),
  };
}

/**
 * Returns the writes that bring the record, the addons' annotations and the Platform in line with the Reservations.
 *
 * @param reservations undefined when the cluster can't be read: then the Platform follows the record
 */
export function compareServices(
  { cluster }: ServicesRef,
  reservations: readonly Reservation[] | undefined,
  seen: ServicesSeen,
): ServicesChange {
  const plan: ServicePlan | undefined = reservations && planServices(cluster, reservations, seen.addons);
  return servicesChange(plan, seen);
}

/**
 * Writes a change field by field, which keeps others' fields in the same objects. Ignores objects that were deleted
 * meanwhile.
 */
export async function writeServices(
  management: Pick<KubernetesClient, "mergePatch">,
  ref: ServicesRef,
  { status, platform, annotations }: ServicesChange,
): Promise<void> {
  const options = { fieldManager: SERVICES_MANAGER };
  const writes = annotations.map(({ kind, name, text }) =>
    management.mergePatch(
      { apiVersion: API.addons, kind, namespace: ref.namespace, name },
      { metadata: { annotations: { [SERVICES_ANNOTATION]: text ?? null } } },
      options,
    ),
  );
  if (status)
    writes.push(
      management.mergePatch(
        clusterRef(ref),
        { status: { services: status } },
        { ...options, subresource: "status" },
      ),
    );
  if (platform)
    writes.push(management.mergePatch(platformRef(ref), { spec: { zenithServices: platform } }, options));
  const failures = (await Promise.allSettled(writes)).flatMap((outcome) =>
    outcome.status === "rejected" && !isGone(outcome.reason) ? [outcome.reason as Error] : [],
  );
  if (failures.length > 0) throw failures[0] as Error;
}

const isGone = (error: unknown): boolean => error instanceof KubernetesError && error.status === 404;
