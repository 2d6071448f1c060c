import type { ClusterAccess, ConnectOptions, KubernetesClient } from "../../../lib/kubernetes";
import { objectName, type Identity } from "../plan/identity";
import { isKnown } from "../../../lib/unknown";
import { userAgent } from "../../../lib/pulumi/user-agent";

/** What every resource on a cluster's objects carries. */
export interface ObjectInputs {
  kubeconfig: string;
  /** "project/stack" */
  stack: string;
  /** deadline of the whole wait */
  timeoutSeconds: number;
}

const CALL_SECONDS = 60;
const PREVIEW_SECONDS = 10;

/**
 * Connects to the cluster, with no more power than the credentials' own: they may have rights in one namespace only.
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

/** Asks the cluster in a preview. @returns why there is no answer, when there is none */
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

/** The resource as a person knows it: "Adoption MachinePool demo/pool-a". */
export function resourceName(type: string, identity: Identity): string {
  return `${type} ${objectName(identity)}`;
}
