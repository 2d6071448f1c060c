import {
  FetchedKubeconfig,
  KindNotServed,
  type KubernetesClient,
  KubernetesError,
  type ListArgs,
  type ObjectRef,
} from "../../../lib/kubernetes";
import { MONITOR_MANAGER } from "../../kubernetes/plan/adoption";
import { ADDON_CLUSTER_LABEL, API, azimuthRefs, SERVICES_ANNOTATION } from "../plan/names";
import type { Addon, ServicesChange, ServicesSeen } from "../plan/services";

/** The cluster that the services belong to. */
export interface ServicesRef {
  namespace: string;
  cluster: string;
  /** whether there is a Cluster record with a status */
  hasRecord: boolean;
}

/** An object with any of the fields that describe services. */
export interface ServiceObject extends Addon {
  metadata?: Addon["metadata"] & { deletionTimestamp?: string };
  spec?: { zenithServices?: ServicesSeen["platform"] };
  status?: { services?: ServicesSeen["status"] };
}

type Source = Omit<ListArgs, "fieldSelector"> & { name?: string };

/**
 * Returns what contains the services of a cluster on its management cluster: its addons, which include the apps that
 * users added, its Platform and its record.
 */
export function serviceSources({ namespace, cluster, hasRecord }: ServicesRef): Source[] {
  const refs = azimuthRefs({ namespace, cluster });
  const labelSelector = `${ADDON_CLUSTER_LABEL}=${cluster}`;
  return [
    { apiVersion: API.addons, kind: "HelmRelease", namespace, labelSelector },
    { apiVersion: API.addons, kind: "Manifests", namespace, labelSelector },
    refs.platform,
    ...(hasRecord ? [refs.record] : []),
  ];
}

/** Returns the services that objects of the sources contain, by kind. */
export function servicesIn(objects: ReadonlyMap<string, readonly ServiceObject[]>): ServicesSeen {
  const ofKind = (kind: string) => objects.get(kind) ?? [];
  const [[record], [platform]] = [ofKind("Cluster"), ofKind("Platform")];
  return {
    addons: ["HelmRelease", "Manifests"].flatMap((kind) => ofKind(kind).map((addon) => ({ ...addon, kind }))),
    status: record && (record.status?.services ?? {}),
    platform: platform && (platform.spec?.zenithServices ?? {}),
  };
}

/** Returns the services of a cluster as recorded on the management cluster. */
export async function readServices(
  management: Pick<KubernetesClient, "get" | "list">,
  ref: ServicesRef,
): Promise<ServicesSeen> {
  const objects = serviceSources(ref).map(async ({ name, ...source }) => {
    if (name === undefined)
      return [source.kind, await listServed<ServiceObject>(management, source)] as const;
    const found = await getServed<ServiceObject>(management, { ...source, name });
    return [source.kind, found ? [found] : []] as const;
  });
  return servicesIn(new Map(await Promise.all(objects)));
}

/** Returns the kubeconfig of the cluster itself; undefined until Cluster API has created it. */
export async function readTargetKubeconfig(
  management: Pick<KubernetesClient, "get">,
  ref: ServicesRef,
): Promise<FetchedKubeconfig | undefined> {
  const { kubeconfig } = azimuthRefs(ref);
  return FetchedKubeconfig.inSecret(kubeconfig, await management.get(kubeconfig));
}

/** Returns the objects of a kind; none while the kind is not served. */
export async function listServed<O>(client: Pick<KubernetesClient, "list">, args: ListArgs): Promise<O[]> {
  return (await ifServed(client.list<O>(args))) ?? [];
}

/** Returns an object; undefined while there is none, or its kind is not served. */
export function getServed<O>(client: Pick<KubernetesClient, "get">, ref: ObjectRef): Promise<O | undefined> {
  return ifServed(client.get<O>(ref));
}

async function ifServed<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof KindNotServed) return undefined;
    throw error;
  }
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
  const refs = azimuthRefs(ref);
  const options = { fieldManager: MONITOR_MANAGER };
  const writes = annotations.map(({ kind, name, text }) =>
    management.mergePatch(
      { apiVersion: API.addons, kind, namespace: ref.namespace, name },
      { metadata: { annotations: { [SERVICES_ANNOTATION]: text ?? null } } },
      options,
    ),
  );
  if (status) {
    const patch = { status: { services: status } };
    writes.push(management.mergePatch(refs.record, patch, { ...options, subresource: "status" }));
  }
  if (platform)
    writes.push(management.mergePatch(refs.platform, { spec: { zenithServices: platform } }, options));
  const failures = (await Promise.allSettled(writes)).flatMap((outcome) =>
    outcome.status === "rejected" && !isGone(outcome.reason) ? [outcome.reason as Error] : [],
  );
  if (failures.length > 0) throw failures[0] as Error;
}

const isGone = (error: unknown): boolean => error instanceof KubernetesError && error.status === 404;
