import { setTimeout as pause } from "node:timers/promises";
import { anySignal } from "../abort";
import { foresailVersion } from "../version";
import { Endpoints, type ReachOptions, type Repeat } from "./endpoints";
import { KubernetesError, KubernetesUnreachable } from "./errors";
import { type ClusterAccess, readEndpoints } from "./kubeconfig";
import { type PodParts, partsForDrain } from "./drain/plan";
import { listAll, type ListArgs } from "./list";
import { type KubernetesObject, type NewObject, type Node, type ObjectRef, type Pod } from "./objects";
import { containsSent, refOf } from "./objects";
import { ResourcePaths } from "./resource-paths";
import { type Call, type Query, Transport } from "./transport";
import { type WatchArgs, watchUntil } from "./watch";

export interface ConnectOptions extends ReachOptions {
  /** default "foresail/<version>"; handlers add the stack */
  userAgent?: string;
  /** a path that the credentials can read; default the nodes */
  authorizedPath?: string;
  /** whether nothing will be written; then a server that responds is enough, ready or not, which saves a request */
  readsOnly?: boolean;
  /** how long one call is retried on the API servers; default 60 */
  callSeconds?: number;
}

const FIELD_MANAGER = "foresail";
const CALL_SECONDS = 60;
const CONFLICT_ATTEMPTS = 12;
const CONFLICT_PAUSE_MILLISECONDS = 50;

/** Calls the Kubernetes API of one cluster through any healthy API server. */
export class KubernetesClient {
  /** The API's kinds and versions. */
  readonly paths: ResourcePaths;

  private constructor(
    private readonly endpoints: Endpoints,
    private readonly callSeconds: number,
    private readonly signal: AbortSignal | undefined,
  ) {
    this.paths = new ResourcePaths((path) => this.call({ method: "GET", path }, true));
  }

  /**
   * Tries all API servers of the kubeconfig at once and uses the first that is ready and accepts the credentials. The
   * signal also aborts later calls.
   *
   * @throws KubernetesUnreachable at the deadline; KubernetesError when the credentials stay refused
   */
  static async connect(access: ClusterAccess, options: ConnectOptions): Promise<KubernetesClient> {
    const userAgent = options.userAgent ?? `foresail/${foresailVersion()}`;
    const transports = (await readEndpoints(access)).map((endpoint) => new Transport(endpoint, userAgent));
    const endpoints = new Endpoints(transports, {
      authorizedPath: options.authorizedPath ?? "/api/v1/nodes",
      readsOnly: options.readsOnly ?? false,
    });
    try {
      const { seconds, signal, progress } = options;
      await endpoints.choose({ seconds, signal, progress });
    } catch (error) {
      endpoints.close();
      throw error;
    }
    return new KubernetesClient(endpoints, options.callSeconds ?? CALL_SECONDS, options.signal);
  }

  /** The API servers of the kubeconfig, for messages. */
  get servers(): string[] {
    return this.endpoints.servers;
  }

  async listNodes(labelSelector?: string): Promise<Node[]> {
    return this.list<Node>({ apiVersion: "v1", kind: "Node", labelSelector });
  }

  async getNode(name: string): Promise<Node | undefined> {
    return this.get<Node>({ apiVersion: "v1", kind: "Node", name });
  }

  /** Returns what decides about drains of all pods; it is a small part of a large cluster's pods. */
  async listPodsForDrain(): Promise<PodParts[]> {
    return this.list<PodParts>({ apiVersion: "v1", kind: "Pod" }, undefined, partsForDrain);
  }

  /** Returns the pods of all namespaces, of one namespace or of those that the selectors match. */
  async listPods(where: Omit<ListArgs, "apiVersion" | "kind"> = {}): Promise<Pod[]> {
    return this.list<Pod>({ apiVersion: "v1", kind: "Pod", ...where });
  }

  /** @param keep returns the needed part of an object */
  async list<O = KubernetesObject>(args: ListArgs, accept?: string, keep?: (object: O) => O): Promise<O[]> {
    const { labelSelector, fieldSelector, ...kind } = args;
    const path = await this.paths.ofKind(kind);
    const query = { labelSelector, fieldSelector };
    return (await listAll<O>(path, query, (call) => this.call({ ...call, accept }, true), keep)).items;
  }

  /** Lists the metadata of objects, without contents that may be large or secret. */
  async listMetadata(args: ListArgs): Promise<Pick<KubernetesObject, "metadata">[]> {
    return this.list(args, "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1");
  }

  /** @returns undefined when there is no such object */
  async get<O = KubernetesObject>(ref: ObjectRef, signal?: AbortSignal): Promise<O | undefined> {
    const path = await this.paths.ofObject(ref);
    return orUndefined(this.call<O>({ method: "GET", path, signal }, true));
  }

  /**
   * Creates an object. When an API server failed after it had received the request, an object that contains all that was
   * sent counts as created.
   *
   * @throws KubernetesError with reason "AlreadyExists"
   */
  async create<O = KubernetesObject>(object: NewObject): Promise<O> {
    const { namespace = "default" } = object.metadata;
    const path = await this.paths.ofKind({ ...refOf(object), namespace });
    const query = { fieldManager: FIELD_MANAGER };
    let isUnsure = false;
    const onUnsure = () => void (isUnsure = true);
    try {
      return await this.call<O>({ method: "POST", path, query, body: object, onUnsure }, true);
    } catch (error) {
      if (!isUnsure) throw error;
      if (error instanceof KubernetesUnreachable) throw error.withUnknownOutcome(`POST ${path}`);
      const exists = error instanceof KubernetesError && error.reason === "AlreadyExists";
      const found = exists ? await this.get(refOf(object)) : undefined;
      if (found === undefined || !containsSent(found, object)) throw error;
      return found as O;
    }
  }

  /**
   * Applies an object with server-side apply.
   *
   * @throws KubernetesError 409 when another field manager owns a field, unless `force`; with `once`,
   *   KubernetesUnreachable when the response is lost
   */
  async apply<O = KubernetesObject>(object: NewObject, options: ApplyOptions = {}): Promise<O> {
    const path = await this.paths.ofObject(refOf(object));
    const { fieldManager = FIELD_MANAGER, force, dryRun } = options;
    const query: Query = { fieldManager, force, dryRun: dryRun ? "All" : undefined };
    const contentType = "application/apply-patch+yaml";
    const call: Call = { method: "PATCH", path, query, body: object, contentType };
    return this.send<O>(call, options.once ? "unless accepted" : "always");
  }

  /**
   * Sends a JSON merge patch; null removes a field. With `metadata.resourceVersion` it applies only to that version.
   * Without one, a conflict comes from concurrent writers, and the patch is retried a few times.
   *
   * @throws KubernetesError 409 when the object has another version, or the conflicts continue
   */
  async mergePatch<O = KubernetesObject>(
    ref: ObjectRef,
    patch: object,
    options: PatchOptions = {},
  ): Promise<O> {
    const { subresource, fieldManager = FIELD_MANAGER, ...limits } = options;
    const path = (await this.paths.ofObject(ref)) + (subresource ? `/${subresource}` : "");
    const contentType = "application/merge-patch+json";
    const query = { fieldManager };
    const call: Call = { method: "PATCH", path, query, body: patch, contentType, ...limits };
    const write = () => this.call<O>(call, true);
    return isForOneVersion(patch) ? write() : throughConflicts(write, options.signal ?? this.signal);
  }

  /**
   * Reads an object and writes what `change` returns for it: a merge patch for exactly the version that was read, or a
   * new object when there is none. Reads again when another writer was faster.
   *
   * @param change returns undefined when there is nothing to write
   * @throws KubernetesError 409 when the conflicts continue
   */
  async change<O extends KubernetesObject>(
    ref: ObjectRef,
    change: (found: O | undefined) => { metadata?: object; [field: string]: unknown } | undefined,
  ): Promise<void> {
    const { apiVersion, kind, namespace, name } = ref;
    await throughConflicts(
      async () => {
        const found = await this.get<O>(ref);
        const fields = change(found);
        if (fields === undefined) return;
        if (!found)
          return this.create({
            ...fields,
            apiVersion,
            kind,
            metadata: { ...fields.metadata, namespace, name },
          });
        const { resourceVersion } = found.metadata ?? {};
        return this.mergePatch(ref, { ...fields, metadata: { resourceVersion, ...fields.metadata } });
      },
      this.signal,
      ["Conflict", "AlreadyExists", "NotFound"],
    );
  }

  /** Returns whether the API server allows these credentials a verb on an object, or on a subresource of it. */
  async mayDo(
    verb: string,
    { apiVersion, kind, namespace, name }: ObjectRef,
    { subresource, signal }: { subresource?: string; signal?: AbortSignal } = {},
  ): Promise<boolean> {
    const path = await this.paths.ofKind({ apiVersion, kind, namespace });
    const group = apiVersion.includes("/") ? apiVersion.slice(0, apiVersion.indexOf("/")) : "";
    const resource = path.split("/").at(-1);
    const resourceAttributes = { verb, group, resource, subresource, namespace, name };
    const body = {
      apiVersion: "authorization.k8s.io/v1",
      kind: "SelfSubjectAccessReview",
      spec: { resourceAttributes },
    };
    const reviews = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    const call: Call = { method: "POST", path: reviews, body, signal };
    return (await this.call<{ status?: { allowed?: boolean } }>(call, true)).status?.allowed === true;
  }

  /** @returns whether there was such an object */
  async delete(ref: ObjectRef, options: DeleteOptions = {}): Promise<boolean> {
    const path = await this.paths.ofObject(ref);
    const { uid, ...others } = options;
    const body = { ...others, ...(uid ? { preconditions: { uid } } : {}) };
    return (await orUndefined(this.call({ method: "DELETE", path, body }, true))) !== undefined;
  }

  /**
   * Evicts a pod through the eviction API, once.
   *
   * @throws KubernetesError 429 with the budget's text in `causes` when a PodDisruptionBudget blocks it; 404 when the pod
   * is already gone
   */
  async evict(pod: { namespace: string; name: string; uid?: string }, signal?: AbortSignal): Promise<void> {
    const { namespace, name, uid } = pod;
    const path = `${await this.paths.ofObject({ apiVersion: "v1", kind: "Pod", namespace, name })}/eviction`;
    const deleteOptions = uid ? { preconditions: { uid } } : undefined;
    const body = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name, namespace }, deleteOptions };
    await this.call({ method: "POST", path, body, signal }, false);
  }

  /** Watches until `decide` is done. @throws WaitTimeout with the last condition, KubernetesError */
  async watchUntil<T, O = KubernetesObject>(args: WatchArgs<T, O>): Promise<T> {
    const { apiVersion, kind, namespace } = args;
    return watchUntil(this.endpoints, await this.paths.ofKind({ apiVersion, kind, namespace }), args);
  }

  /** Makes any other call, such as GET /version. */
  async call<T>(call: Call, isRepeatable: boolean): Promise<T> {
    return this.send<T>(call, isRepeatable ? "always" : "never");
  }

  private async send<T>(call: Call, repeat: Repeat): Promise<T> {
    const options = { seconds: this.callSeconds, signal: anySignal(call.signal, this.signal) };
    return (await this.endpoints.call(call, repeat, options)) as T;
  }

  /** Closes the keep-alive connections. */
  close(): void {
    this.endpoints.close();
  }
}

export interface ApplyOptions {
  /** default "foresail" */
  fieldManager?: string;
  /** takes over fields from other field managers */
  force?: boolean;
  /** runs validation and admission without storing the object */
  dryRun?: boolean;
  /** never retries when the response is lost, for callers that must know whether this call created the object */
  once?: boolean;
}

interface PatchOptions {
  subresource?: "status" | "approval";
  /** default "foresail" */
  fieldManager?: string;
  signal?: AbortSignal;
  milliseconds?: number;
}

export interface DeleteOptions {
  propagationPolicy?: "Foreground" | "Background" | "Orphan";
  gracePeriodSeconds?: number;
  /** deletes only the object with this uid */
  uid?: string;
}

function isForOneVersion(patch: { metadata?: { resourceVersion?: string } }): boolean {
  return patch.metadata?.resourceVersion !== undefined;
}

/** Retries the write on conflict. @param reasons of the errors that are conflicts */
async function throughConflicts<T>(
  write: () => Promise<T>,
  signal: AbortSignal | undefined,
  reasons = ["Conflict"],
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await write();
    } catch (error) {
      const isConflict = error instanceof KubernetesError && reasons.includes(error.reason);
      if (!isConflict || attempt >= CONFLICT_ATTEMPTS) throw error;
      await pause(CONFLICT_PAUSE_MILLISECONDS * attempt, undefined, { signal });
    }
  }
}

async function orUndefined<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof KubernetesError && error.status === 404) return undefined;
    throw error;
  }
}
