import { groupOf } from "../../kubernetes/plan/identity";
import { valueAt } from "../../kubernetes/plan/path";
import { failureOf } from "./failure";

/** A condition as Cluster API writes it; only v1beta1 has severity. */
export interface Condition {
  type: string;
  status: string;
  severity?: string;
  reason?: string;
  message?: string;
}

/** Counts of machines. Missing fields count as 0. */
export interface Counts {
  /** machines of the infrastructure */
  replicas: number;
  /** nodes that are Ready */
  ready: number;
  /**
   * registered nodes, Ready or not (Cluster API 1.7); nodes that had been Ready for minReadySeconds at the last count
   * (1.11)
   */
  available: number;
  unavailable: number;
  /**
   * machines of the current template; v1beta1 does not have it, and for a pool without Machine objects it is the
   * desired number
   */
  upToDate?: number;
}

/** An object that a pool refers to, in the pool's namespace. */
export interface Referred {
  group: string;
  /** v1beta2 does not contain it: any version that the server has */
  apiVersion?: string;
  kind: string;
  name: string;
}

/** The observed state of a MachinePool, independent of the API version. */
export interface ObservedPool {
  name: string;
  uid: string;
  generation: number;
  observedGeneration?: number;
  isDeleting: boolean;
  /** the pool's own annotation, not the cluster's pause */
  isPaused: boolean;
  /** whether the Cluster is its owner */
  isOwned: boolean;
  /** the component that sets the number of replicas, such as an autoscaler */
  managedBy?: string;
  /** spec.replicas */
  wanted?: number;
  /** how long a node must be Ready before it is available; 0 for no wait */
  minReadySeconds: number;
  version?: string;
  dataSecretName?: string;
  hasConfigRef: boolean;
  phase?: string;
  bootstrapReady: boolean;
  infrastructureReady: boolean;
  counts: Counts;
  /** names of the matched Nodes */
  nodes: string[];
  providerIDs: string[];
  /** the object that creates its join data */
  bootstrapConfig?: Referred;
  /** the object that creates its machines */
  infrastructure?: Referred;
  failure?: string;
  conditions: Condition[];
}

const GROUP = "cluster.x-k8s.io";
/** Annotation: the component that sets the number of replicas. */
const REPLICAS_MANAGED_BY = `${GROUP}/replicas-managed-by`;
/** Annotation: controllers ignore the object. */
const PAUSED = `${GROUP}/paused`;

/** Returns the component that sets the number of replicas instead of the specification, or undefined. */
export function replicasManager(annotations: Readonly<Record<string, string>>): string | undefined {
  const manager = annotations[REPLICAS_MANAGED_BY];
  return manager === "false" ? undefined : manager;
}

/** Returns the observed state of a MachinePool of `cluster.x-k8s.io/v1beta1` or `v1beta2`. */
export function observePool(object: object): ObservedPool {
  const text = (path: string) => asText(valueAt(object, path));
  const count = (path: string) => asNumber(valueAt(object, path));
  const list = <T>(path: string) => (valueAt(object, path) ?? []) as T[];
  const annotations = (valueAt(object, "metadata.annotations") ?? {}) as Record<string, string>;
  // v1beta2 keeps the v1beta1 fields under status.deprecated
  const older = valueAt(object, "status.deprecated.v1beta1");
  const conditions = [
    ...list<Condition>("status.conditions"),
    ...asList<Condition>(valueAt(older, "conditions")),
  ];
  const initialized = (field: string) => valueAt(object, `status.initialization.${field}`) === true;
  const optional = {
    observedGeneration: count("status.observedGeneration"),
    managedBy: replicasManager(annotations),
    wanted: count("spec.replicas"),
    version: text("spec.template.spec.version"),
    dataSecretName: text("spec.template.spec.bootstrap.dataSecretName"),
    phase: text("status.phase"),
    failure: failureOf(object),
    bootstrapConfig: referred(valueAt(object, "spec.template.spec.bootstrap.configRef")),
    infrastructure: referred(valueAt(object, "spec.template.spec.infrastructureRef")),
  };
  return {
    ...defined(optional),
    name: text("metadata.name") ?? "",
    uid: text("metadata.uid") ?? "",
    generation: count("metadata.generation") ?? 0,
    isDeleting: valueAt(object, "metadata.deletionTimestamp") !== undefined,
    isPaused: Object.hasOwn(annotations, PAUSED),
    isOwned: list<{ kind?: string; apiVersion?: string }>("metadata.ownerReferences").some(
      ({ kind, apiVersion = "" }) => kind === "Cluster" && apiVersion.startsWith(`${GROUP}/`),
    ),
    hasConfigRef: valueAt(object, "spec.template.spec.bootstrap.configRef") !== undefined,
    bootstrapReady:
      valueAt(object, "status.bootstrapReady") === true || initialized("bootstrapDataSecretCreated"),
    infrastructureReady:
      valueAt(object, "status.infrastructureReady") === true || initialized("infrastructureProvisioned"),
    // v1beta2 has the field in the template
    minReadySeconds: count("spec.minReadySeconds") ?? count("spec.template.spec.minReadySeconds") ?? 0,
    counts: countsOf(object),
    nodes: list<{ name?: string }>("status.nodeRefs").map(({ name = "" }) => name),
    providerIDs: list<string>("spec.providerIDList"),
    conditions,
  };
}

/**
 * Returns the counts of a status. The counts of v1beta2 itself are of Machine objects: for a pool without them, Cluster
 * API 1.11 writes the infrastructure's count, with or without nodes. The counts of nodes are among the deprecated
 * fields.
 */
function countsOf(object: object): Counts {
  const count = (field: string) => asNumber(valueAt(object, `status.${field}`));
  // present and empty after a failure of the controller; then the nodes are unknown
  const older = valueAt(object, "status.deprecated");
  const ofNodes = (field: string) =>
    (older === undefined ? count(field) : asNumber(valueAt(older, `v1beta1.${field}`))) ?? 0;
  const upToDate = count("upToDateReplicas");
  return {
    replicas: count("replicas") ?? 0,
    ready: ofNodes("readyReplicas"),
    available: ofNodes("availableReplicas"),
    unavailable: ofNodes("unavailableReplicas"),
    ...(upToDate === undefined ? {} : { upToDate }),
  };
}

function referred(reference: unknown): Referred | undefined {
  const [apiGroup, apiVersion, kind, name] = ["apiGroup", "apiVersion", "kind", "name"].map((field) =>
    asText(valueAt(reference, field)),
  );
  const group = apiGroup ?? (apiVersion && groupOf(apiVersion));
  if (group === undefined || kind === undefined || name === undefined) return undefined;
  return { group, ...(apiVersion === undefined ? {} : { apiVersion }), kind, name };
}

/** Returns the fields that have a value. */
function defined<T extends object>(fields: T): T {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;
}

function asText(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function asNumber(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}

function asList<T>(value: unknown): T[] {
  return Array.isArray(value) ? (value as T[]) : [];
}
