import { annotationKeys } from "../plan/rollout/annotations";
import { outOfReach } from "../plan/rollout/state";
import { observeRolloutNode } from "../plan/rollout/observed";
import type { KubernetesClient } from "../../../lib/kubernetes";
import type { ReportedAgent } from "../plan/node-agents";
import type { NodeObject } from "./observed-nodes";

const READ_SECONDS = 5;
const SPEAK_SECONDS = 30;
const HESITATE_SECONDS = 4;

/** Returns the status that the agents of a cluster have reported, by Node. @param pattern of the annotation keys */
function reportedBy(nodes: readonly NodeObject[], pattern: string): Map<string, ReportedAgent> {
  const keys = annotationKeys(pattern);
  return new Map(
    nodes.map((object): [string, ReportedAgent] => {
      const annotations = object.metadata?.annotations ?? {};
      const revision = annotations[keys.revision];
      const hasReported = annotations[keys.ready] !== undefined || revision !== undefined;
      const reason = outOfReach(observeRolloutNode(object, pattern), []);
      return [
        object.metadata?.name ?? "",
        {
          hasReported,
          ...(revision === undefined ? {} : { revision }),
          ...(reason === undefined ? {} : { outOfReach: reason }),
        },
      ];
    }),
  );
}

/**
 * Reads the agents' status in one call, and waits a few seconds for agents without one, since an agent whose Node has
 * just come back reports soon.
 *
 * @param names of machines that should have an agent
 * @throws Error when the cluster can't be read
 */
export async function readReportedAgents(
  kubernetes: KubernetesClient,
  pattern: string,
  names: readonly string[],
): Promise<Map<string, ReportedAgent>> {
  const { WaitTimeout } = await import("../../../lib/wait.js");
  let reported = reportedBy(await kubernetes.listNodes(), pattern);
  const silent = () => names.filter((name) => reported.get(name)?.hasReported === false);
  if (silent().length === 0) return reported;
  await kubernetes
    .watchUntil<void, NodeObject>({
      apiVersion: "v1",
      kind: "Node",
      what: "the node agents to speak",
      seconds: HESITATE_SECONDS,
      decide: (nodes) => {
        reported = reportedBy(nodes, pattern);
        return silent().length === 0 ? { done: undefined } : { pending: silent().join(", ") };
      },
    })
    .catch((error: unknown) => {
      if (!(error instanceof WaitTimeout)) throw error;
    });
  return reported;
}

/**
 * Waits a moment until newly installed agents have reported on their Nodes, so that the next preview sees it.
 *
 * @returns the names of those that have not, which is not a failure: the rollout waits for the agents that it needs
 */
export async function awaitAgentReports(
  kubeconfig: string,
  pattern: string,
  names: readonly string[],
  revision: string,
): Promise<string[]> {
  const { KubernetesClient } = await import("../../../lib/kubernetes/index.js");
  let silent = [...names];
  let kubernetes: KubernetesClient | undefined;
  try {
    kubernetes = await KubernetesClient.connect({ kubeconfig }, { seconds: READ_SECONDS, readsOnly: true });
    await kubernetes.watchUntil<void, NodeObject>({
      apiVersion: "v1",
      kind: "Node",
      what: "the node agents to speak",
      seconds: SPEAK_SECONDS,
      decide: (nodes) => {
        const reported = reportedBy(nodes, pattern);
        silent = names.filter((name) => reported.get(name)?.revision !== revision);
        return silent.length === 0 ? { done: undefined } : { pending: silent.join(", ") };
      },
    });
  } catch {
    // the returned names report it
  } finally {
    kubernetes?.close();
  }
  return silent;
}
