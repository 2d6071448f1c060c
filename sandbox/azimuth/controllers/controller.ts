import { setTimeout as pause } from "node:timers/promises";
import type { KubernetesClient, KubernetesObject } from "../../../lib/kubernetes";
import { KubernetesError } from "../../../lib/kubernetes";
import { follow } from "../../../lib/kubernetes/follow";
import type { Faults } from "../faults";

/** The context of every simulated controller. */
export interface Context {
  readonly client: KubernetesClient;
  readonly faults: Faults;
  readonly signal: AbortSignal;
  /** Receives one line for each failed reconciliation. */
  readonly say: (line: string) => void;
}

/** An object as a controller sees it: fields that a server always sets are present. */
export type Seen<Spec extends object = object, Status extends object = object> = Omit<
  KubernetesObject,
  "metadata"
> & {
  apiVersion: string;
  kind: string;
  metadata: {
    name: string;
    namespace: string;
    uid: string;
    generation?: number;
    creationTimestamp?: string;
    deletionTimestamp?: string;
    finalizers?: string[];
    ownerReferences?: { uid: string; apiVersion: string; kind: string; name: string }[];
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
  };
  spec: Spec;
  status?: Status;
};

interface ControllerArgs<O> {
  apiVersion: string;
  kind: string;
  /** Reconciles one object. @returns after how many milliseconds to check again, or nothing */
  reconcile: (object: O) => Promise<number | undefined>;
}

const AFTER_FAILURE_MILLISECONDS = 500;
/** Longest wait before an object that changed meanwhile is reconciled again. */
const LONGEST_PAUSE_MILLISECONDS = 1000;

/**
 * Runs a controller: each object is reconciled by one worker at a time, whenever it changes and whenever its last
 * reconciliation requested it. Faults that apply to every kind are handled here.
 */
export async function runController<O extends Seen>(
  { client, faults, signal, say }: Context,
  { apiVersion, kind, reconcile }: ControllerArgs<O>,
): Promise<void> {
  const latest = new Map<string, O>();
  const done = new Map<string, string>();
  const busy = new Set<string>();
  // a requested fault counts as a change of the object
  const versionOf = (object: O) =>
    `${(object.metadata as unknown as { resourceVersion?: string }).resourceVersion ?? ""}/${faults.revision}`;

  const work = async (key: string): Promise<void> => {
    if (busy.has(key)) return;
    busy.add(key);
    try {
      for (let object = latest.get(key); object && !signal.aborted; object = latest.get(key)) {
        const version = versionOf(object);
        const again = await attempt(object);
        done.set(key, version);
        const next = latest.get(key);
        if (next && versionOf(next) !== version) continue;
        if (again === undefined) break;
        await pause(Math.min(again, LONGEST_PAUSE_MILLISECONDS), undefined, { signal });
      }
    } catch {
      // the end of the process
    } finally {
      busy.delete(key);
    }
    const late = latest.get(key);
    if (late && !signal.aborted && versionOf(late) !== done.get(key)) void work(key);
  };

  const attempt = async (object: O): Promise<number | undefined> => {
    const { name, namespace } = object.metadata;
    const { slow, deleted, changedEvery } = faults.of(kind, object.metadata);
    const ref = { apiVersion, kind, namespace, name };
    try {
      if (deleted && !object.metadata.deletionTimestamp) await client.delete(ref);
      if (slow !== undefined) {
        const age = Date.now() - Date.parse(object.metadata.creationTimestamp ?? "");
        if (age < slow * 1000) return slow * 1000 - age;
      }
      const again = await reconcile(object);
      if (changedEvery === undefined) return again;
      await client.mergePatch(ref, { metadata: { annotations: { "sandbox.foresail/at": `${Date.now()}` } } });
      return changedEvery;
    } catch (error) {
      if (signal.aborted) return undefined;
      const isGone = error instanceof KubernetesError && error.status === 404;
      if (isGone) return undefined;
      say(`${kind} ${namespace}/${name}: ${error instanceof Error ? error.message : String(error)}`);
      return AFTER_FAILURE_MILLISECONDS;
    }
  };

  faults.onChange(() => [...latest.keys()].forEach((key) => void work(key)));
  await follow<O>(client, {
    apiVersion,
    kind,
    signal,
    onObjects: (objects) => {
      const keys = new Set<string>();
      for (const object of objects) {
        const key = `${object.metadata.namespace}/${object.metadata.name}`;
        keys.add(key);
        latest.set(key, { ...object, apiVersion, kind });
        if (done.get(key) !== versionOf(object)) void work(key);
      }
      for (const key of [...latest.keys()].filter((known) => !keys.has(known))) {
        latest.delete(key);
        done.delete(key);
      }
    },
  });
}

/** Returns the reference to an observed object. */
export function refTo({ apiVersion, kind, metadata }: Seen) {
  return { apiVersion, kind, namespace: metadata.namespace, name: metadata.name };
}

/** Writes fields of a status unless they have these values already. */
export async function setStatus(
  client: KubernetesClient,
  object: Seen,
  status: Record<string, unknown>,
): Promise<void> {
  const have = (object.status ?? {}) as Record<string, unknown>;
  const differs = Object.entries(status).some(
    ([key, value]) => JSON.stringify(have[key] ?? null) !== JSON.stringify(value ?? null),
  );
  if (differs) await client.mergePatch(refTo(object), { status }, { subresource: "status" });
}

/** Adds a finalizer. @returns whether it was there already */
export async function holdBy(client: KubernetesClient, object: Seen, finalizer: string): Promise<boolean> {
  const finalizers = object.metadata.finalizers ?? [];
  if (finalizers.includes(finalizer)) return true;
  const { resourceVersion } = object.metadata as { resourceVersion?: string };
  await client.mergePatch(refTo(object), {
    metadata: { resourceVersion, finalizers: [...finalizers, finalizer] },
  });
  return false;
}

/** Removes a finalizer, so that the object can be deleted. */
export async function letGo(client: KubernetesClient, object: Seen, finalizer: string): Promise<void> {
  const { resourceVersion } = object.metadata as { resourceVersion?: string };
  const finalizers = (object.metadata.finalizers ?? []).filter((other) => other !== finalizer);
  await client.mergePatch(refTo(object), { metadata: { resourceVersion, finalizers } });
}
