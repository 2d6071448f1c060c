import type { KubernetesClient } from "./client";
import type { Lease, ObjectRef } from "./objects";

/** The Lease that only the process that changes the cluster holds. */
export const CLUSTER_LEASE: ObjectRef = {
  apiVersion: "coordination.k8s.io/v1",
  kind: "Lease",
  namespace: "kube-system",
  name: "foresail",
};

/** The Lease annotation that asks the running process to stop before the next node. */
export const PAUSE_REQUESTED = "foresail/pause-requested";

/** Returns the text of a pause request, or undefined when there is none. */
export async function pauseRequested(client: KubernetesClient): Promise<string | undefined> {
  const lease = await client.get<Lease>(CLUSTER_LEASE);
  return lease?.metadata?.annotations?.[PAUSE_REQUESTED];
}

/**
 * Returns whether a pause request is older than this run, which then ignores it.
 *
 * @param request the annotation's text, which begins with the time of the request
 * @param startedAt when this run began, ISO time
 */
export function isFromBefore(request: string | undefined, startedAt: string): boolean {
  if (request === undefined) return false;
  const asked = Date.parse(request.split(" ")[0] ?? "");
  return !(asked >= Date.parse(startedAt));
}
