import { replicasManager } from "./observed";
import { withV } from "./nodes";

/** An object to which a pool refers, and which may be made with it. */
export interface PoolReference {
  apiVersion: string;
  kind: string;
  name: string;
}

/** A MachinePool as somebody wishes it, the same for every version of the API. */
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

/** The MachinePool as it is applied: only what is wished for, so that what Cluster API adds stays its own. */
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
    // the newer API has it where it belongs
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

/** Whether somebody else decides the number of replicas, so that the specification's holds at the beginning only. */
export function isScaledByOthers({ annotations }: Pick<PoolSpecification, "annotations">): boolean {
  return replicasManager(annotations) !== undefined;
}

const withNamespace = (namespace: string) => (reference: PoolReference) => ({ ...reference, namespace });

function withGroup({ apiVersion, kind, name }: PoolReference) {
  return { apiGroup: apiVersion.slice(0, apiVersion.indexOf("/")), kind, name };
}
