import type { ObjectRef } from "./objects";

/** The Lease that only the process that changes the cluster holds. */
export const CLUSTER_LEASE: ObjectRef = {
  apiVersion: "coordination.k8s.io/v1",
  kind: "Lease",
  namespace: "kube-system",
  name: "foresail",
};

/** Where the history of a cluster is. */
export const CLUSTER_HISTORY: ObjectRef = {
  apiVersion: "v1",
  kind: "ConfigMap",
  namespace: "kube-system",
  name: "foresail-history",
};
