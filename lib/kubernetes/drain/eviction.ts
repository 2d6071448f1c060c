import type { Probed } from "../../wait";
import type { KubernetesClient } from "../client";
import { KubernetesError, KubernetesUnreachable } from "../errors";
import type { Pod } from "../objects";
import { namespacedName } from "./plan";

/** What the error of an eviction means for the drain. */
export type Refusal =
  /** a budget, or a namespace that is being deleted: try again */
  | "held"
  /** the API server or a webhook is down: try again */
  | "failed"
  /** admission or RBAC: only the user's rights tell */
  | "denied"
  /** the pod is gone, or its name belongs to another pod: only the pod tells */
  | "gone"
  /** the API server can't do what the request asks for */
  | "final";

/** Statuses for a request that the API server does not understand: a policy does not answer with them. */
const NOT_UNDERSTOOD = [405, 406, 415, 501];

/**
 * Returns what the error of an eviction means. Webhooks choose the status of their denials themselves, and policies use
 * 401, 403, 413 and 422, so the status alone tells a denial from a refusal of RBAC for none of them.
 */
export function refusalOf({
  status,
  causeReasons,
}: Pick<KubernetesError, "status" | "causeReasons">): Refusal {
  if (NOT_UNDERSTOOD.includes(status)) return "final";
  if (status === 429 || causeReasons.includes("NamespaceTerminating")) return "held";
  if (status >= 500) return "failed";
  return status === 404 || status === 409 ? "gone" : "denied";
}

/**
 * Asks for the eviction of a pod once.
 *
 * @returns done when it was accepted or the pod is gone; else why not, for a wait that repeats it
 * @throws KubernetesError when the user may not evict pods, or the API server does not understand the request
 */
export async function tryEviction(
  client: KubernetesClient,
  pod: Pod,
  signal?: AbortSignal,
): Promise<Probed<void>> {
  const { namespace = "default", name = "", uid } = pod.metadata ?? {};
  try {
    await client.evict({ namespace, name, uid }, signal);
    return { done: undefined };
  } catch (error) {
    // the uid makes it safe to send the eviction again when its answer was lost
    if (error instanceof KubernetesUnreachable && uid && (error.outcomeUnknown || !error.isFinal))
      return { pending: `${namespacedName(pod)}: eviction not answered: ${error.lastSeen}` };
    if (!(error instanceof KubernetesError)) throw error;
    const words = error.causes.join(" ") || error.remote;
    switch (refusalOf(error)) {
      case "held":
        return { pending: `${namespacedName(pod)} held: ${words}` };
      case "failed":
        return { pending: `${namespacedName(pod)}: eviction failed: ${words}` };
      case "gone":
        if (!(await isRunning(client, pod, signal))) return { done: undefined };
        return { pending: `${namespacedName(pod)}: eviction refused: ${words}` };
      case "denied":
        if (!(await mayEvict(client, namespace, name, signal))) throw error;
        return { pending: `${namespacedName(pod)}: eviction denied by admission: ${words}` };
      case "final":
        throw error;
    }
  }
}

/** Returns whether the pod itself is still there, and nothing deletes it. */
async function isRunning(client: KubernetesClient, pod: Pod, signal?: AbortSignal): Promise<boolean> {
  const { namespace = "default", name = "", uid } = pod.metadata ?? {};
  const found = await client.get<Pod>({ apiVersion: "v1", kind: "Pod", namespace, name }, signal);
  return found?.metadata !== undefined && found.metadata.uid === uid && !found.metadata.deletionTimestamp;
}

/** Returns whether RBAC allows the eviction. A user who may not even ask is refused as well. */
async function mayEvict(
  client: KubernetesClient,
  namespace: string,
  name: string,
  signal?: AbortSignal,
): Promise<boolean> {
  const pod = { apiVersion: "v1", kind: "Pod", namespace, name };
  try {
    return await client.mayDo("create", pod, { subresource: "eviction", signal });
  } catch (error) {
    if (error instanceof KubernetesError) return false;
    throw error;
  }
}
