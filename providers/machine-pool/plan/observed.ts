import { groupOf } from "../../kubernetes/plan/identity";
import { valueAt } from "../../kubernetes/plan/path";
import { failureOf } from "./failure";

/** A condition as Cluster API writes it; severity is of v1beta1 only. */
export interface Condition {
  type: string;
  status: string;
  severity?: string;
  reason?: string;
  message?: string;
}

/** Counts of machines. What the server leaves out counts 0. */
export interface Counts {
  /** what the infrastructure has */
  replicas: number;
  /** nodes that are Ready */
  ready: number;
  /** nodes that registered, Ready or not (Cluster API 1.7); nodes that were Ready for minReadySeconds when they were counted (1.11) */
  available: number;
  unavailable: number;
  /** machines made from the present template; unknown to v1beta1, and the wish itself for a pool without Machine objects */
  upToDate?: number;
}

/** An object to which a pool refers, in the pool's namespace. */
export interface Referred {
  group: string;
  /** v1beta2 does not say it: whichever the server has */
  apiVersion?: string;
  kind: string;
  name: string;
}

/** What a MachinePool says of itself, the same for every version of the API. */
export interface ObservedPool {
  name: string;
  uid: string;
  generation: number;
  observedGeneration?: number;
  isDeleting: boolean;
  /** the pool's own annotation; the cluster's is elsewhere */
  isPaused: boolean;
  /** the Cluster has been made its owner */
  isOwned: boolean;
  /** somebody else, such as an autoscaler, decides the number of replicas */
  managedBy?: string;
  /** spec.replicas */
  wanted?: number;
  /** how long a node has to be Ready before it is available; 0: not at all */
  minReadySeconds: number;
  version?: string;
  dataSecretName?: string;
  hasConfigRef: boolean;
  phase?: string;
  bootstrapReady: boolean;
  infrastructureReady: boolean;
  counts: Counts;
  /** names of the Nodes that were matched */
  nodes: string[];
  providerIDs: string[];
  /** what makes its join data */
  bootstrapConfig?: Referred;
  /** what makes its machines */
  infrastructure?: Referred;
  failure?: string;
  conditions: Condition[];
}

const GROUP = "cluster.x-k8s.io";
/** Annotation: who decides the number of replicas. */
const REPLICAS_MANAGED_BY = `${GROUP}/replicas-managed-by`;
/** Annotation: nothing is done with the object. */
const PAUSED = `${GROUP}/paused`;

/** Who decides the number of replicas instead of the specification; undefined: nobody. */
export function replicasManager(annotations: Readonly<Record<string, string>>): string | undefined {
  const manager = annotations[REPLICAS_MANAGED_BY];
  return manager === "false" ? undefined : manager;
}

/** Reads a MachinePool of `cluster.x-k8s.io/v1beta1` or `v1beta2`. */
export function observePool(object: object): ObservedPool {
  const text = (path: string) => asText(valueAt(object, path));
  const count = (path: string) => asNumber(valueAt(object, path));
  const list = <T>(path: string) => (valueAt(object, path) ?? []) as T[];
  const annotations = (valueAt(object, "metadata.annotations") ?? {}) as Record<string, string>;
  // v1beta2 keeps the older fields aside
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
    // the newer API has it with the machines
    minReadySeconds: count("spec.minReadySeconds") ?? count("spec.template.spec.minReadySeconds") ?? 0,
    counts: countsOf(object),
    nodes: list<{ name?: string }>("status.nodeRefs").map(({ name = "" }) => name),
    providerIDs: list<string>("spec.providerIDList"),
    conditions,
  };
}

/**
 * The counts of a status. Those of v1beta2 itself are of Machine objects: for a pool that has none, Cluster API 1.11 writes
 * what the infrastructure has, whether it has nodes or not. What it knows of nodes is among the older fields.
 */
function countsOf(object: object): Counts {
  const count = (field: string) => asNumber(valueAt(object, `status.${field}`));
  // there and empty when the controller fell over a failure; then nobody knows of any node
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

/** Without the fields that have no value. */
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
