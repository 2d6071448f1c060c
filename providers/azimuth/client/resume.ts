import { API, LEASE_FINALIZER, oidcClientName } from "../plan/names";
import { recordChange } from "../plan/record";
import { MONITOR_MANAGER, type Owner } from "../../kubernetes/plan/adoption";
import type { KubernetesClient } from "../../../lib/kubernetes";
import { patchRecord, readClusterObjects, readRecord, type RecordRef } from "./cluster-record";
import { compareUserAccess, linesOf, writeUserAccess } from "./user-access";

interface Owned {
  metadata?: {
    uid?: string;
    deletionTimestamp?: string;
    finalizers?: string[];
    ownerReferences?: { uid?: string }[];
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
  const found = await management.get<Owned>({ ...owner, namespace });
  const uid = found?.metadata?.uid;
  if (uid === undefined) return [`${owner.kind} ${namespace}/${owner.name} does not exist`];
  if (found?.metadata?.deletionTimestamp !== undefined) return [];
  const reference = { ...owner, uid, blockOwnerDeletion: true };
  const client = { apiVersion: API.identity, kind: "OIDCClient", name: oidcClientName(ref.cluster) };
  const lines = await adoptAgain(management, namespace, client, { ...reference, controller: true }, []);
  if (leaseName !== undefined) {
    const lease = { apiVersion: API.scheduling, kind: "Lease", name: leaseName };
    lines.push(...(await adoptAgain(management, namespace, lease, reference, [LEASE_FINALIZER])));
  }
  return [...lines, ...(await bringRecordUpToDate(management, ref))];
}

async function adoptAgain(
  management: KubernetesClient,
  namespace: string,
  object: { apiVersion: string; kind: string; name: string },
  owner: Owner,
  finalizers: string[],
): Promise<string[]> {
  const { apiVersion, kind, name } = object;
  const live = await management.get<Owned>({ apiVersion, kind, namespace, name });
  if (!live || live.metadata?.deletionTimestamp) return [];
  const { ownerReferences = [], finalizers: present = [] } = live.metadata ?? {};
  const isOwned = ownerReferences.some(({ uid }) => uid === owner.uid);
  if (isOwned && finalizers.every((finalizer) => present.includes(finalizer))) return [];
  await management.apply(
    { apiVersion, kind, metadata: { name, namespace, finalizers, ownerReferences: [owner] } },
    { fieldManager: MONITOR_MANAGER, force: true },
  );
  return [`${kind} ${namespace}/${name}: belongs to ${owner.kind} ${owner.name} again`];
}

async function bringRecordUpToDate(management: KubernetesClient, ref: ResumeRef): Promise<string[]> {
  if (!ref.hasRecord) return [];
  const [status, objects] = await Promise.all([
    readRecord(management, ref),
    readClusterObjects(management, ref),
  ]);
  const leased = ref.leaseName !== undefined;
  const change = status && recordChange(status, objects, { leased, now: Date.now() });
  if (change) await patchRecord(management, ref, change.patch);
  const access = await compareUserAccess(management, ref);
  await writeUserAccess(management, ref, access);
  return [...(change?.lines ?? []), ...linesOf(access)];
}
