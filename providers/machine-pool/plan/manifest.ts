import { quoted } from "../../../lib/text/quote";
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
  nodeDeletionTimeoutSeconds?: number;
  nodeVolumeDetachTimeoutSeconds?: number;
  /** Conditions of each Machine that have to hold, too, before it counts as ready. */
  readinessGates?: ReadinessGate[];
}

export const POLARITIES = ["Positive", "Negative"] as const;

/** Returns what is wrong with the type of a condition, or undefined. */
export const conditionTypeIssue = (text: string): string | undefined =>
  text.length <= 316 &&
  /^([a-z0-9]([a-z0-9.-]*[a-z0-9])?\/)?[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?$/.test(text)
    ? undefined
    : `${quoted(text)} is not the type of a condition; write e.g. "example.com/Checked"`;

/** Returns what is wrong with the path of a field in a specification, or undefined. */
export const fieldPathIssue = (text: string): string | undefined =>
  text.length <= 253 && /^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$/.test(text)
    ? undefined
    : `${quoted(text)} is not the path of a field; write e.g. "minSize" or "template.tags"`;

/** A condition of a Machine; with the polarity Negative it must be False. */
export interface ReadinessGate {
  conditionType: string;
  polarity?: (typeof POLARITIES)[number];
}

/** Deadlines of what Cluster API does with the Node of a Machine that goes; v1beta1 has them as durations. */
export const NODE_TIMEOUTS = ["nodeDrainTimeout", "nodeDeletionTimeout", "nodeVolumeDetachTimeout"] as const;

/** Returns the fields of a Machine with the deadlines that a specification has. */
function nodeTimeouts(specification: PoolSpecification, isOld: boolean) {
  const timeouts = NODE_TIMEOUTS.flatMap((name) => {
    const seconds = specification[`${name}Seconds`];
    return seconds === undefined ? [] : [{ name, seconds }];
  });
  if (timeouts.length === 0) return {};
  if (isOld) return Object.fromEntries(timeouts.map(({ name, seconds }) => [name, `${seconds}s`]));
  return { deletion: Object.fromEntries(timeouts.map(({ name, seconds }) => [`${name}Seconds`, seconds])) };
}

/** Returns the MachinePool to apply: only the desired fields, so that Cluster API keeps the fields that it adds. */
export function machinePoolManifest(specification: PoolSpecification) {
  const { api, namespace, name, cluster, replicas, version, labels, annotations } = specification;
  const { failureDomains, minReadySeconds, readinessGates = [], bootstrap } = specification;
  const ref = api === "v1beta1" ? withNamespace(namespace) : withGroup;
  const isOld = api === "v1beta1";
  const template = {
    clusterName: cluster,
    ...(version === undefined ? {} : { version: withV(version) }),
    bootstrap: "configRef" in bootstrap ? { configRef: ref(bootstrap.configRef) } : bootstrap,
    infrastructureRef: ref(specification.infrastructureRef),
    ...nodeTimeouts(specification, isOld),
    ...(readinessGates.length === 0 ? {} : { readinessGates }),
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
