import type { Renames } from "../../../lib/validation/renames";
import { replicasManager } from "./observed";
import { withV } from "./evaluation";

/** Old names in `foresail:machinePool` and in the arguments of `MachinePool`. */
export const MACHINE_POOL_RENAMES: Renames = {
  "timeouts.bootstrap": "timeouts.bootstrapSeconds",
  "timeouts.infrastructure": "timeouts.infrastructureSeconds",
  "timeouts.nodes": "timeouts.nodesSeconds",
  "timeouts.deletion": "timeouts.deletionSeconds",
};

/** Deadlines of the stages, and of the pool's deletion. */
export const TIMEOUTS = {
  bootstrapSeconds: 600,
  infrastructureSeconds: 1800,
  nodesSeconds: 1800,
  deletionSeconds: 1800,
} as const;

/** The versions of Cluster API's API. */
export const APIS = ["v1beta1", "v1beta2"] as const;

/** An object that a pool refers to and that may be created with it. */
export interface PoolReference {
  apiVersion: string;
  kind: string;
  name: string;
}

/** A desired MachinePool, independent of the API version. */
export interface PoolSpecification {
  api: "v1beta1" | "v1beta2";
  namespace: string;
  name: string;
  cluster: string;
  replicas: number;
  version?: string;
  bootstrap: { configRef: PoolReference } | { dataSecretName: string };
  infrastructureRef: PoolReference;
  labels: Record<string, string>;
  annotations: Record<string, string>;
  failureDomains: string[];
  minReadySeconds?: number;
  nodeDrainTimeoutSeconds?: number;
}

/** Returns the MachinePool to apply: only the desired fields, so that Cluster API keeps the fields that it adds. */
export function machinePoolManifest(specification: PoolSpecification) {
  const { api, namespace, name, cluster, replicas, version, labels, annotations } = specification;
  const { failureDomains, minReadySeconds, nodeDrainTimeoutSeconds, bootstrap } = specification;
  const ref = api === "v1beta1" ? withNamespace(namespace) : withGroup;
  const isOld = api === "v1beta1";
  const template = {
    clusterName: cluster,
    ...(version === undefined ? {} : { version: withV(version) }),
    bootstrap: "configRef" in bootstrap ? { configRef: ref(bootstrap.configRef) } : bootstrap,
    infrastructureRef: ref(specification.infrastructureRef),
    ...(nodeDrainTimeoutSeconds === undefined
      ? {}
      : isOld
        ? { nodeDrainTimeout: `${nodeDrainTimeoutSeconds}s` }
        : { deletion: { nodeDrainTimeoutSeconds } }),
    // v1beta2 has the field in the template
    ...(minReadySeconds === undefined || isOld ? {} : { minReadySeconds }),
  };
  return {
    apiVersion: `cluster.x-k8s.io/${api}`,
    kind: "MachinePool",
    metadata: { name, namespace, labels, annotations },
    spec: {
      clusterName: cluster,
      replicas,
      ...(minReadySeconds === undefined || !isOld ? {} : { minReadySeconds }),
      ...(failureDomains.length === 0 ? {} : { failureDomains }),
      template: { spec: template },
    },
  };
}

/**
 * Returns whether another component sets the number of replicas, so that the specification's number applies only at the
 * creation.
 */
export function isScaledByOthers({ annotations }: Pick<PoolSpecification, "annotations">): boolean {
  return replicasManager(annotations) !== undefined;
}

const withNamespace = (namespace: string) => (reference: PoolReference) => ({ ...reference, namespace });

function withGroup({ apiVersion, kind, name }: PoolReference) {
  return { apiGroup: apiVersion.slice(0, apiVersion.indexOf("/")), kind, name };
}
