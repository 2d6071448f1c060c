import {
  FetchedKubeconfig,
  type KubernetesClient,
  type NewObject,
  type ObjectRef,
} from "../../../lib/kubernetes";
import { readEndpoints } from "../../../lib/kubernetes/kubeconfig";
import type { AddonObject, ControlPlane, ApiMachine, ClusterStatus } from "../plan/status";
import { API, azimuthRefs, isOf, LEASE_FINALIZER, type Marked } from "../plan/names";
import { getServed, listServed } from "./cluster-services";
import { type ClusterObjects, type RecordChange, recordChange } from "../plan/record";
import { isDeepStrictEqual } from "node:util";
import { parseYaml } from "../../../lib/yaml";
import { userKubeconfig } from "../plan/user-kubeconfig";
import { MONITOR_MANAGER, type OwnerRef, staleOwners } from "../../kubernetes/plan/adoption";
import { messageOf } from "../../../lib/error-message";

/** A cluster and its Lease. */
export interface RecordRef {
  namespace: string;
  cluster: string;
  leaseName?: string;
}

type Reader = Pick<KubernetesClient, "get" | "list">;

/** Returns the record's status; undefined when there is no record. */
export async function readRecord(client: Reader, ref: RecordRef): Promise<ClusterStatus | undefined> {
  const record = await client.get<{ status?: ClusterStatus }>(azimuthRefs(ref).record);
  return record && (record.status ?? {});
}

/** Writes a merge patch of the record's status. */
export async function patchRecord(
  client: Pick<KubernetesClient, "mergePatch">,
  ref: RecordRef,
  status: object,
): Promise<void> {
  await client.mergePatch(azimuthRefs(ref).record, { status }, { subresource: "status" });
}

/** Returns the objects of a cluster that its record describes. */
export async function readClusterObjects(client: Reader, ref: RecordRef): Promise<ClusterObjects> {
  const { namespace, cluster, leaseName } = ref;
  const own = async <O extends Marked>(apiVersion: string, kind: string): Promise<O[]> =>
    (await listServed<O>(client, { apiVersion, kind, namespace })).filter((object) => isOf(cluster, object));
  // accounts that were made before foresail read them have no right to
  const kustomizations = own<AddonObject>(API.flux, "Kustomization").catch((error: { status?: number }) => {
    if (error.status !== 403) throw error;
    return [];
  });
  const phaseOf = async (object: ObjectRef): Promise<string | undefined> => {
    const found = await getServed<{ status?: { phase?: string } }>(client, object);
    return found && (found.status?.phase ?? "Unknown");
  };
  const lease = { apiVersion: API.scheduling, kind: "Lease", namespace };
  const [machines, releases, manifests, flux, [controlPlane], networkingPhase, leasePhase] =
    await Promise.all([
      own<ApiMachine>(API.clusterApi, "Machine"),
      own<AddonObject>(API.addons, "HelmRelease"),
      own<AddonObject>(API.addons, "Manifests"),
      // entries of a list have no kind
      kustomizations.then((found) => found.map((addon) => ({ ...addon, kind: "Kustomization" }))),
      own<ControlPlane>(API.controlPlane, "KubeadmControlPlane"),
      phaseOf(azimuthRefs(ref).capiCluster),
      leaseName === undefined ? undefined : phaseOf({ ...lease, name: leaseName }),
    ]);
  return {
    machines,
    addons: [...releases, ...manifests, ...flux],
    controlPlane,
    networkingPhase,
    leasePhase,
  };
}

interface Secret {
  metadata?: { labels?: Record<string, string>; ownerReferences?: { uid?: string }[] };
  data?: { value?: string };
}

/** What to write so that Azimuth's portal provides a kubeconfig to users; empty when everything is up to date. */
interface UserAccess {
  /** one line for each change */
  lines: string[];
  secret?: NewObject;
  /** `status.kubeconfigSecretName` */
  kubeconfigSecretName?: string;
  /** why Cluster API's kubeconfig can't be given to users */
  problem?: string;
}

/**
 * Compares the kubeconfig of a cluster's users with what azimuth-capi-operator would write. With OpenID Connect it is
 * the Secret <cluster>-kubeconfig-user, made from Cluster API's <cluster>-kubeconfig. The record names that Secret, or
 * Cluster API's own without OpenID Connect. Returns no change before the record and Cluster API's Secret exist.
 *
 * @throws KubernetesError
 */
export async function compareUserAccess(
  client: Pick<KubernetesClient, "get">,
  ref: RecordRef,
): Promise<UserAccess> {
  const { namespace, cluster } = ref;
  const refs = azimuthRefs(ref);
  const [record, admin, oidcClient, live] = await Promise.all([
    client.get<{ metadata?: { uid?: string }; status?: { kubeconfigSecretName?: string } }>(refs.record),
    client.get<Secret>(refs.kubeconfig),
    getServed<{ status?: { issuerUrl?: string; clientId?: string } }>(client, refs.oidcClient),
    client.get<Secret>(refs.userKubeconfig),
  ]);
  const uid = record?.metadata?.uid;
  if (uid === undefined || admin?.data?.value === undefined) return { lines: [] };
  const nameIs = (name: string): UserAccess =>
    record?.status?.kubeconfigSecretName === name
      ? { lines: [] }
      : { lines: [`kubeconfigSecretName: ${name}`], kubeconfigSecretName: name };
  if (oidcClient === undefined) return nameIs(refs.kubeconfig.name);
  const { issuerUrl, clientId } = oidcClient.status ?? {};
  if (!issuerUrl || !clientId) return { lines: [] };
  const { name } = refs.userKubeconfig;
  let text: string;
  try {
    const fetched = new FetchedKubeconfig(`Secret ${namespace}/${refs.kubeconfig.name}`, decoded(admin));
    // users receive only parts of it, but a kubeconfig that foresail refuses is not passed on either
    await readEndpoints({ kubeconfig: fetched });
    text = userKubeconfig(fetched.text, { issuerUrl, clientId });
  } catch (error) {
    const why = messageOf(error);
    const secret = `${namespace}/${refs.kubeconfig.name}`;
    return { lines: [], problem: `the kubeconfig in the Secret ${secret} can't be given to users: ${why}` };
  }
  const named = nameIs(name);
  if (live && isSame(live, text, admin, uid)) return named;
  const owner = { apiVersion: API.azimuth, kind: "Cluster", name: cluster, uid };
  return {
    ...named,
    lines: [`write the users' kubeconfig to the Secret ${namespace}/${name}`, ...named.lines],
    secret: {
      apiVersion: "v1",
      kind: "Secret",
      metadata: {
        name,
        namespace,
        labels: admin.metadata?.labels ?? {},
        ownerReferences: [{ ...owner, controller: true, blockOwnerDeletion: true }],
      },
      data: { value: Buffer.from(text).toString("base64") },
    },
  };
}

const decoded = ({ data }: Secret): string => Buffer.from(data?.value ?? "", "base64").toString("utf8");

/** Ignores the order of keys, because azimuth-capi-operator writes another one. */
function isSame({ metadata, data }: Secret, text: string, admin: Secret, uid: string): boolean {
  const { labels = {}, ownerReferences = [] } = metadata ?? {};
  return (
    ownerReferences.some((owner) => owner.uid === uid) &&
    Object.entries(admin.metadata?.labels ?? {}).every(([label, value]) => labels[label] === value) &&
    isDeepStrictEqual(parseYaml(decoded({ data })), parseYaml(text))
  );
}

/** Writes the result of `compareUserAccess`: the Secret first, so that the record names an existing one. */
export async function writeUserAccess(
  client: Pick<KubernetesClient, "apply" | "mergePatch">,
  ref: RecordRef,
  { secret, kubeconfigSecretName: name }: UserAccess,
): Promise<void> {
  if (secret) await client.apply(secret, { fieldManager: MONITOR_MANAGER, force: true });
  if (name !== undefined) await patchRecord(client, ref, { kubeconfigSecretName: name });
}

interface Owned {
  metadata?: {
    uid?: string;
    resourceVersion?: string;
    deletionTimestamp?: string;
    finalizers?: string[];
    ownerReferences?: OwnerRef[];
  };
}

/** A cluster and the owner of its objects. */
export interface ResumeRef extends RecordRef {
  owner: { apiVersion: string; kind: string; name: string };
  hasRecord: boolean;
}

/**
 * Restores what changed between runs: the owner references and finalizers of OIDCClient and Lease, and the nodes and
 * addons in the record.
 *
 * @returns one line for each change
 */
export async function resumeCluster(management: KubernetesClient, ref: ResumeRef): Promise<string[]> {
  const { namespace, owner, leaseName } = ref;
  const { metadata } = (await management.get<Owned>({ ...owner, namespace })) ?? {};
  const uid = metadata?.uid;
  if (uid === undefined) return [`${owner.kind} ${namespace}/${owner.name} does not exist`];
  if (metadata?.deletionTimestamp !== undefined) return [];
  const reference = { ...owner, uid, blockOwnerDeletion: true };
  const { oidcClient } = azimuthRefs(ref);
  const lines = await adoptAgain(management, oidcClient, { ...reference, controller: true }, []);
  if (leaseName !== undefined) {
    const lease = { apiVersion: API.scheduling, kind: "Lease", namespace, name: leaseName };
    lines.push(...(await adoptAgain(management, lease, reference, [LEASE_FINALIZER])));
  }
  if (!ref.hasRecord) return lines;
  const found = await compareRecord(management, ref);
  await writeRecord(management, ref, found);
  return [...lines, ...found.lines, ...(found.problem === undefined ? [] : [found.problem])];
}

async function adoptAgain(
  management: KubernetesClient,
  object: ObjectRef & { namespace: string },
  owner: OwnerRef,
  finalizers: string[],
): Promise<string[]> {
  const { apiVersion, kind, namespace, name } = object;
  const live = await getServed<Owned>(management, object);
  if (!live || live.metadata?.deletionTimestamp) return [];
  const { ownerReferences = [], finalizers: present = [], resourceVersion } = live.metadata ?? {};
  const isOwned = ownerReferences.some(({ uid }) => uid === owner.uid);
  if (isOwned && finalizers.every((finalizer) => present.includes(finalizer))) return [];
  // a restored owner has another uid, and an object can have only one controller
  const stale = staleOwners(live, [owner]);
  const valid = ownerReferences.filter((other) => !stale.includes(other));
  if (valid.length < ownerReferences.length)
    await management.mergePatch(object, { metadata: { resourceVersion, ownerReferences: valid } });
  await management.apply(
    { apiVersion, kind, metadata: { name, namespace, finalizers, ownerReferences: [owner] } },
    { fieldManager: MONITOR_MANAGER, force: true },
  );
  return [`${kind} ${namespace}/${name}: belongs to ${owner.kind} ${owner.name} again`];
}

/** The differences in the record and in the users' access to the cluster. */
export interface RecordComparison extends UserAccess {
  change?: RecordChange;
  /** whether a run writes them; new entries of the record alone wait for the next one */
  isDue: boolean;
}

/** Compares the record, if there is one, and the users' access with the objects on the management cluster. */
export async function compareRecord(client: Reader, ref: RecordRef): Promise<RecordComparison> {
  const [status, objects, access] = await Promise.all([
    readRecord(client, ref),
    readClusterObjects(client, ref),
    compareUserAccess(client, ref),
  ]);
  const leased = ref.leaseName !== undefined;
  const change = status && recordChange(status, objects, { leased, now: Date.now() });
  const isDue = (change?.isDue ?? false) || access.lines.length > 0;
  return { ...access, change, isDue, lines: [...(change?.lines ?? []), ...access.lines] };
}

/** Writes the result of `compareRecord`. */
export async function writeRecord(
  client: Pick<KubernetesClient, "apply" | "mergePatch">,
  ref: RecordRef,
  found: RecordComparison,
): Promise<void> {
  if (found.change) await patchRecord(client, ref, found.change.patch);
  await writeUserAccess(client, ref, found);
}
