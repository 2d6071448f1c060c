import type { KubernetesClient } from "./client";
import type { Lease, ObjectRef } from "./objects";

/** The Lease by which only one changes a cluster at a time. */
export const CLUSTER_LEASE: ObjectRef = {
  apiVersion: "coordination.k8s.io/v1",
  kind: "Lease",
  namespace: "kube-system",
  name: "foresail",
};

/** The annotation on the Lease by which a person asks whoever changes the cluster to stop before the next node. */
export const PAUSE_REQUESTED = "foresail/pause-requested";

/** Who asked for a pause, in their own words, or undefined when nobody did. */
export async function pauseRequested(client: KubernetesClient): Promise<string | undefined> {
  const lease = await client.get<Lease>(CLUSTER_LEASE);
  return lease?.metadata?.annotations?.[PAUSE_REQUESTED];
}

/**
 * Whether a pause was asked of a run that began earlier, which says nothing to this one.
 *
 * @param request the annotation's text, which begins with the time of the request
 * @param startedAt when this run began, ISO time
 */
export function isFromBefore(request: string | undefined, startedAt: string): boolean {
  if (request === undefined) return false;
  const asked = Date.parse(request.split(" ")[0] ?? "");
  return !(asked >= Date.parse(startedAt));
}
