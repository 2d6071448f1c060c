import type { KubernetesClient, ObjectRef } from "../../../lib/kubernetes";
import { terminalFailure } from "../plan/failure";
import { type ObservedPool, observePool, type Referred } from "../plan/observed";

/**
 * Returns the reference to an object that a pool refers to. v1beta2 contains only the group, so the server provides the
 * version.
 *
 * @returns undefined when the server does not have its kind
 */
export async function whereIs(
  management: KubernetesClient,
  namespace: string,
  { group, apiVersion, kind, name }: Referred,
): Promise<ObjectRef | undefined> {
  const version = apiVersion ?? (await management.versionsOf(group, kind))[0];
  return version === undefined ? undefined : { apiVersion: version, kind, namespace, name };
}

/** Returns the terminal failure of an object that a pool refers to, with its name; undefined when there is none. */
export async function failureBeside(
  management: KubernetesClient,
  namespace: string,
  { bootstrapConfig, infrastructure }: ObservedPool,
): Promise<string | undefined> {
  for (const referred of [bootstrapConfig, infrastructure]) {
    const ref = referred && (await whereIs(management, namespace, referred));
    const object = ref && (await management.get<object>(ref));
    const words = object && terminalFailure(object);
    if (words !== undefined) return `${ref?.kind} ${ref?.name}: ${words}`;
  }
  return undefined;
}

/**
 * Watches the objects that a pool refers to until one has a terminal failure. Cluster API 1.7 copies the failure to the
 * pool; the controller of 1.11.1 fails on it and reports nothing.
 *
 * @param pool the reference to the pool
 * @returns the object and its failure; undefined when it can't be watched, or at the deadline
 */
export async function untilTerminalFailure(
  management: KubernetesClient,
  pool: ObjectRef & { namespace: string },
  options: { seconds: number; signal: AbortSignal },
): Promise<string | undefined> {
  const watch = async (referred: Referred | undefined) => {
    const ref = referred && (await whereIs(management, pool.namespace, referred));
    if (ref === undefined) throw new Error("there is nothing to watch");
    return management.watchUntil<string, object>({
      ...ref,
      ...options,
      what: `${ref.kind} ${ref.name} to fail`,
      decide: ([object]) => {
        const words = object && terminalFailure(object);
        return words === undefined
          ? { pending: "it has not" }
          : { done: `${ref.kind} ${ref.name}: ${words}` };
      },
    });
  };
  try {
    const { bootstrapConfig, infrastructure } = observePool((await management.get<object>(pool)) ?? {});
    return await Promise.any([watch(bootstrapConfig), watch(infrastructure)]);
  } catch {
    // without a right to watch them, the pool's own status must suffice
    return undefined;
  }
}
