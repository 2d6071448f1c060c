import type { ClusterAccess, ConnectOptions, KubernetesClient } from "../../../lib/kubernetes";
import { objectName, type Identity } from "../plan/identity";
import { isKnown } from "../../../lib/unknown";
import { userAgent } from "../../../lib/pulumi/user-agent";

/** The common inputs of resources for a cluster's objects. */
export interface ObjectInputs {
  /** Kubeconfig of the object's cluster; secret. */
  kubeconfig: string;
  /** "project/stack" */
  stack: string;
  /** Timeout of the wait, and of the object's deletion. */
  timeoutSeconds: number;
}

const CALL_SECONDS = 60;
const PREVIEW_SECONDS = 10;

/**
 * Connects to the cluster with only the rights of the credentials, which may be limited to one namespace.
 *
 * @throws KubernetesUnreachable at the deadline; KubeconfigRefused
 */
export async function connectTo(
  inputs: ClusterAccess & Pick<ObjectInputs, "stack">,
  options: Partial<ConnectOptions> = {},
): Promise<KubernetesClient> {
  const { KubernetesClient } = await import("../../../lib/kubernetes/index.js");
  return KubernetesClient.connect(
    { kubeconfig: inputs.kubeconfig },
    { seconds: CALL_SECONDS, authorisedPath: "/api", userAgent: userAgent(inputs), ...options },
  );
}

/** Reads from the cluster in a preview. @returns `silence`: why the cluster did not respond */
export async function askCluster<T>(
  inputs: Pick<ObjectInputs, "kubeconfig" | "stack">,
  ask: (kubernetes: KubernetesClient) => Promise<T>,
): Promise<{ answer: T } | { silence: string }> {
  if (!isKnown(inputs.kubeconfig)) return { silence: "the cluster is not there yet" };
  const { KubernetesUnreachable } = await import("../../../lib/kubernetes/index.js");
  try {
    const kubernetes = await connectTo(inputs, { seconds: PREVIEW_SECONDS, readsOnly: true });
    try {
      return { answer: await ask(kubernetes) };
    } finally {
      kubernetes.close();
    }
  } catch (error) {
    if (error instanceof KubernetesUnreachable) return { silence: error.message };
    throw error;
  }
}

/** Returns the resource's name for messages: "Adoption MachinePool demo/pool-a". */
export function resourceName(type: string, identity: Identity): string {
  return `${type} ${objectName(identity)}`;
}
