import { fieldAt } from "../../kubernetes/plan/fields";
import { apiGroupOf } from "../../kubernetes/plan/identity";
import { asNumber, type Condition, reasonOf } from "../../kubernetes/plan/status";

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

const GROUP = "cluster.x-k8s.io";

/** Returns the component that sets the number of replicas instead of the specification, or undefined. */
export function replicasManager(annotations: Readonly<Record<string, string>>): string | undefined {
  const manager = annotations[`${GROUP}/replicas-managed-by`];
  return manager === "false" ? undefined : manager;
}

/** The observed state of a MachinePool, independent of the API version. */
export type ObservedPool = ReturnType<typeof observePool>;

/** Returns the observed state of a MachinePool of `cluster.x-k8s.io/v1beta1` or `v1beta2`. */
export function observePool(object: object) {
  const text = (path: string) => asText(fieldAt(object, path));
  const count = (path: string) => asNumber(fieldAt(object, path));
  const list = <T>(path: string) => (fieldAt(object, path) ?? []) as T[];
  const isTrue = (...paths: string[]) => paths.some((path) => fieldAt(object, path) === true);
  const annotations = (fieldAt(object, "metadata.annotations") ?? {}) as Record<string, string>;
  return {
    ...defined({
      observedGeneration: count("status.observedGeneration"),
      /** spec.replicas */
      wanted: count("spec.replicas"),
      version: text("spec.template.spec.version"),
      dataSecretName: text("spec.template.spec.bootstrap.dataSecretName"),
      phase: text("status.phase"),
      failure: failureOf(object),
      /** the object that creates its join data */
      bootstrapConfig: referred(fieldAt(object, "spec.template.spec.bootstrap.configRef")),
      /** the object that creates its machines */
      infrastructure: referred(fieldAt(object, "spec.template.spec.infrastructureRef")),
    }),
    name: text("metadata.name") ?? "",
    uid: text("metadata.uid") ?? "",
    generation: count("metadata.generation") ?? 0,
    isDeleting: fieldAt(object, "metadata.deletionTimestamp") !== undefined,
    /** the pool's own annotation, not the cluster's pause */
    isPaused: Object.hasOwn(annotations, `${GROUP}/paused`),
    /** whether the Cluster is its owner */
    isOwned: list<{ kind?: string; apiVersion?: string }>("metadata.ownerReferences").some(
      ({ kind, apiVersion = "" }) => kind === "Cluster" && apiVersion.startsWith(`${GROUP}/`),
    ),
    bootstrapReady: isTrue("status.bootstrapReady", "status.initialization.bootstrapDataSecretCreated"),
    infrastructureReady: isTrue(
      "status.infrastructureReady",
      "status.initialization.infrastructureProvisioned",
    ),
    /** how long a node must be Ready before it is available; 0 for no wait; v1beta2 has it in the template */
    minReadySeconds: count("spec.minReadySeconds") ?? count("spec.template.spec.minReadySeconds") ?? 0,
    counts: countsOf(object),
    /** names of the matched Nodes */
    nodes: list<{ name?: string }>("status.nodeRefs").map(({ name = "" }) => name),
    providerIDs: list<string>("spec.providerIDList"),
    conditions: conditionsOf(object),
  };
}

/** Returns the conditions of an object; v1beta2 keeps those of v1beta1, which have a severity, under status.deprecated. */
export function conditionsOf(object: object): Condition[] {
  return ["status.conditions", "status.deprecated.v1beta1.conditions"].flatMap((path) => {
    const found = fieldAt(object, path);
    return Array.isArray(found) ? (found as Condition[]) : [];
  });
}

/**
 * Returns the counts of a status. The counts of v1beta2 itself are of Machine objects: for a pool without them, Cluster
 * API 1.11 writes the infrastructure's count, with or without nodes. The counts of nodes are among the deprecated
 * fields.
 */
function countsOf(object: object): Counts {
  // present and empty after a failure of the controller; then the nodes are unknown
  const isOlder = fieldAt(object, "status.deprecated") === undefined;
  const count = (path: string) => asNumber(fieldAt(object, path));
  const ofNodes = (field: string) =>
    count(isOlder ? `status.${field}` : `status.deprecated.v1beta1.${field}`) ?? 0;
  return {
    replicas: count("status.replicas") ?? 0,
    ready: ofNodes("readyReplicas"),
    available: ofNodes("availableReplicas"),
    unavailable: ofNodes("unavailableReplicas"),
    ...defined({ upToDate: count("status.upToDateReplicas") }),
  };
}

function referred(reference: unknown): Referred | undefined {
  const [apiGroup, apiVersion, kind, name] = ["apiGroup", "apiVersion", "kind", "name"].map((field) =>
    asText(fieldAt(reference, field)),
  );
  const group = apiGroup ?? (apiVersion && apiGroupOf(apiVersion));
  if (group === undefined || kind === undefined || name === undefined) return undefined;
  return { group, ...defined({ apiVersion }), kind, name };
}

/** Returns the fields that have a value. */
export function defined<T extends object>(fields: T): Partial<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Partial<T>;
}

const asText = (value: unknown) => (typeof value === "string" && value !== "" ? value : undefined);

/**
 * Returns the terminal failure of a Cluster API object, from `failureReason` and `failureMessage` of its status, which
 * v1beta2 keeps among the deprecated fields; undefined when it has none.
 */
export function failureOf(object: object): string | undefined {
  const words = ["failureReason", "failureMessage"].flatMap((field) => {
    const found = ["status", "status.deprecated.v1beta1"].map((path) => fieldAt(object, `${path}.${field}`));
    return asText(found.find((value) => value !== undefined && value !== "")) ?? [];
  });
  return words.length === 0 ? undefined : words.join(": ");
}

/** The fields of an object that a pool refers to, whose controller may not have observed its specification yet. */
export interface ReferredObject {
  metadata?: {
    uid?: string;
    generation?: number;
    ownerReferences?: readonly { kind: string; name: string; uid: string; controller?: boolean }[];
    managedFields?: readonly { manager?: string; operation?: string; time?: string }[];
  };
  status?: {
    observedGeneration?: number;
    conditions?: readonly Condition[];
    /** the kind of an object for each machine, of the same API version */
    infrastructureMachineKind?: string;
  };
}

/** Returns whether the status is of an earlier specification; not every provider reports the generation. */
const isOutdated = ({ metadata, status }: ReferredObject): boolean =>
  status?.observedGeneration !== undefined && status.observedGeneration < (metadata?.generation ?? 0);

/**
 * Returns the terminal failure of an object that a pool refers to; undefined while its controller has not observed the
 * current specification, which may have fixed it.
 */
export function terminalFailure(object: ReferredObject): string | undefined {
  return isOutdated(object) ? undefined : failureOf(object);
}

/**
 * Returns why the machines may not match the infrastructure object yet; undefined when its status does not say so. A
 * change of its template alone does not change the MachinePool, whose status is then outdated.
 */
export function unsettled(object: ReferredObject): string | undefined {
  if (isOutdated(object)) return "its controller has not seen the change yet";
  const behind = machinesBehind(object);
  if (behind !== undefined) return behind;
  const ready = object.status?.conditions?.find(({ type }) => type === "Ready");
  return ready?.status === "False" ? `Ready is False${inBrackets(ready)}` : undefined;
}

/** Returns the machines that a provider itself reports to be of an earlier template. */
function machinesBehind(object: ReferredObject): string | undefined {
  const status = (path: string) => fieldAt(object, `status.${path}`);
  const instances = status("instances");
  const old = (Array.isArray(instances) ? instances : []).filter(
    (instance) => fieldAt(instance, "latestModelApplied") === false,
  );
  if (old.length > 0) return `${old.length} machines are not of the latest model`;
  const [replicas, current] = [
    status("replicas"),
    status("updatedReplicas") ?? status("upToDateReplicas"),
  ].map(asNumber);
  if (replicas === undefined || current === undefined || current >= replicas) return undefined;
  return `${current} of ${replicas} machines are of the present template`;
}

/** " (reason: message)" of a condition; "" without either */
export function inBrackets(condition: Pick<Condition, "reason" | "message">): string {
  const why = reasonOf(condition);
  return why && ` (${why})`;
}
