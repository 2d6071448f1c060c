import type { KubernetesClient, ObjectRef } from "../../../lib/kubernetes";
import { terminalFailure } from "../plan/failure";
import { type ObservedPool, observePool, type Referred } from "../plan/observed";

/**
 * Where an object to which a pool refers can be read. v1beta2 says the group alone, so the server is asked for the version.
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

/** Why an object to which a pool refers has failed for good, with its name; undefined when none says so. */
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
 * Watches what a pool refers to until one of the objects has failed for good. Cluster API 1.7 says so of the pool itself;
 * the controller of 1.11.1 falls over it, and says nothing.
 *
 * @param pool names it
 * @returns the object and its words; undefined when that can't be watched, or at the deadline
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
    // without a right to watch them, the pool's own words have to do
    return undefined;
  }
}
