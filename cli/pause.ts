import { hostname, userInfo } from "node:os";
import { CLUSTER_LEASE, KubernetesClient, type KubernetesObject, PAUSE_REQUESTED } from "../lib/kubernetes";

/** The user waits for this after Ctrl-C. */
const SECONDS = 8;

/** The result of a pause request. */
type PauseAnswer = { readonly asked: true } | { readonly asked: false; readonly because: string };

/**
 * Asks the running process to stop before its next node. Never throws: the result contains the reason of a failure.
 *
 * @param kubeconfig the stack's output, or undefined when it has none yet
 */
export async function requestPause(kubeconfig: string | undefined): Promise<PauseAnswer> {
  if (kubeconfig === undefined) return { asked: false, because: "the stack has no kubeconfig yet" };
  const at = new Date().toISOString();
  return onLease<PauseAnswer>(kubeconfig, async (client) => {
    const lease = await client.get<KubernetesObject & { spec?: { holderIdentity?: string } }>(CLUSTER_LEASE);
    if (!lease?.spec?.holderIdentity) return { asked: false, because: "nobody is changing the cluster now" };
    await annotate(client, `${at} ${userInfo().username}@${hostname()}`);
    return { asked: true };
  }).catch((error: unknown): PauseAnswer => ({
    asked: false,
    because: `the cluster can't be asked: ${error instanceof Error ? error.message : String(error)}`,
  }));
}

/**
 * Withdraws the pause request, so that it does not stop the next run. If this fails, the next run removes the request
 * as outdated.
 */
export async function withdrawPause(kubeconfig: string): Promise<void> {
  await onLease(kubeconfig, (client) => annotate(client, null)).catch(() => undefined);
}

async function annotate(client: KubernetesClient, value: string | null): Promise<void> {
  await client.mergePatch(CLUSTER_LEASE, { metadata: { annotations: { [PAUSE_REQUESTED]: value } } });
}

async function onLease<T>(kubeconfig: string, work: (client: KubernetesClient) => Promise<T>): Promise<T> {
  const client = await KubernetesClient.connect({ kubeconfig }, { seconds: SECONDS, callSeconds: SECONDS });
  try {
    return await work(client);
  } finally {
    client.close();
  }
}
