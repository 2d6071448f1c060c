import { valueAt } from "../objects/path";

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
  /** nodes that registered, Ready or not (Cluster API 1.7) */
  available: number;
  unavailable: number;
  /** machines made from the present template; unknown to v1beta1 */
  upToDate?: number;
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
  /** what makes its machines; unknown in v1beta2, which counts the machines of the present template instead */
  infrastructure?: { apiVersion: string; kind: string; name: string };
  failure?: string;
  conditions: Condition[];
}

const GROUP = "cluster.x-k8s.io";
/** Annotation: who decides the number of replicas. */
export const REPLICAS_MANAGED_BY = `${GROUP}/replicas-managed-by`;
/** Annotation: nothing is done with the object. */
export const PAUSED = `${GROUP}/paused`;

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
  const olderText = (field: string) => asText(valueAt(older, field));
  const conditions = [
    ...list<Condition>("status.conditions"),
    ...asList<Condition>(valueAt(older, "conditions")),
  ];
  const failures = [
    text("status.failureReason") ?? olderText("failureReason"),
    text("status.failureMessage") ?? olderText("failureMessage"),
  ].filter((words) => words !== undefined);
  const initialized = (field: string) => valueAt(object, `status.initialization.${field}`) === true;
  const optional = {
    observedGeneration: count("status.observedGeneration"),
    managedBy: replicasManager(annotations),
    wanted: count("spec.replicas"),
    version: text("spec.template.spec.version"),
    dataSecretName: text("spec.template.spec.bootstrap.dataSecretName"),
    phase: text("status.phase"),
    failure: failures.length === 0 ? undefined : failures.join(": "),
  };
  const upToDate = count("status.upToDateReplicas");
  const [apiVersion, kind, infrastructure] = ["apiVersion", "kind", "name"].map((field) =>
    text(`spec.template.spec.infrastructureRef.${field}`),
  );
  return {
    ...(Object.fromEntries(
      Object.entries(optional).filter(([, value]) => value !== undefined),
    ) as typeof optional),
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
    counts: {
      replicas: count("status.replicas") ?? 0,
      ready: count("status.readyReplicas") ?? 0,
      available: count("status.availableReplicas") ?? 0,
      unavailable:
        count("status.unavailableReplicas") ?? asNumber(valueAt(older, "unavailableReplicas")) ?? 0,
      ...(upToDate === undefined ? {} : { upToDate }),
    },
    nodes: list<{ name?: string }>("status.nodeRefs").map(({ name = "" }) => name),
    providerIDs: list<string>("spec.providerIDList"),
    ...(apiVersion && kind && infrastructure
      ? { infrastructure: { apiVersion, kind, name: infrastructure } }
      : {}),
    conditions,
  };
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
