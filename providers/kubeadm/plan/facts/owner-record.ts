import { type Owner, parseOwner } from "../../../../lib/ownership/owner";
import type { KubernetesObject, NewObject, ObjectRef } from "../../../../lib/kubernetes/objects";

/** The ConfigMap in which a cluster records its owner. */
export const CLUSTER_OWNER = {
  apiVersion: "v1",
  kind: "ConfigMap",
  namespace: "kube-system",
  name: "foresail-owner",
} satisfies ObjectRef;

/** Returns the object with which a cluster records its owner. */
export function ownerObject({ id, stack }: Owner): NewObject {
  const { apiVersion, kind, namespace, name } = CLUSTER_OWNER;
  return { apiVersion, kind, metadata: { namespace, name }, data: { id, stack } };
}

/** Returns whether an object is the record of the cluster's owner. */
export const isOwnerRecord = ({ kind, metadata }: NewObject): boolean =>
  kind === CLUSTER_OWNER.kind && metadata.name === CLUSTER_OWNER.name;

/** Returns the owner in a record; undefined for none, and for a damaged one, which names no stack. */
export function ownerIn(record: KubernetesObject | undefined): Owner | undefined {
  const data = record?.data;
  return typeof data === "object" && data !== null ? parseOwner({ ...data }) : undefined;
}
