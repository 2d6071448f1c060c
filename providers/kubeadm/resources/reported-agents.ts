import { annotationKeys } from "../plan/rollout/annotations";
import { outOfReach } from "../plan/rollout/state";
import { observeRolloutNode } from "../plan/rollout/observed";
import { KubernetesClient, type Node } from "../../../lib/kubernetes";
import { WaitTimeout } from "../../../lib/wait";
import type { ReportedAgent } from "../plan/node-agents";

const READ_SECONDS = 5;
const REPORT_SECONDS = 30;
const HESITATE_SECONDS = 4;

/** Returns the status that the agents of a cluster have reported, by Node. @param pattern of the annotation keys */
function reportedBy(nodes: readonly Node[], pattern: string): Map<string, ReportedAgent> {
  const keys = annotationKeys(pattern);
  return new Map(
    nodes.map((object): [string, ReportedAgent] => {
      const { name = "", annotations = {} } = object.metadata ?? {};
      const revision = annotations[keys.revision];
      const hasReported = annotations[keys.ready] !== undefined || revision !== undefined;
      const reason = outOfReach(observeRolloutNode(object, pattern), []);
      return [
        name,
        {
          hasReported,
          ...(revision === undefined ? {} : { revision }),
          ...(reason === undefined ? {} : { outOfReach: reason }),
        },
      ];
    }),
  );
}

/** Watches the Nodes until these machines' agents have reported as desired. @throws WaitTimeout */
async function untilReported(
  kubernetes: KubernetesClient,
  seconds: number,
  silentAmong: (nodes: readonly Node[]) => string[],
): Promise<void> {
  await kubernetes.watchUntil<void, Node>({
    apiVersion: "v1",
    kind: "Node",
    what: "the node agents to report",
    seconds,
    decide: (nodes) => {
      const silent = silentAmong(nodes);
      return silent.length === 0 ? { done: undefined } : { pending: silent.join(", ") };
    },
  });
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
  let reported = new Map<string, ReportedAgent>();
  const silentAmong = (nodes: readonly Node[]) => {
    reported = reportedBy(nodes, pattern);
    return names.filter((name) => reported.get(name)?.hasReported === false);
  };
  if (silentAmong(await kubernetes.listNodes()).length > 0)
    await untilReported(kubernetes, HESITATE_SECONDS, silentAmong).catch((error: unknown) => {
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
  let silent = [...names];
  let kubernetes: KubernetesClient | undefined;
  try {
    kubernetes = await KubernetesClient.connect({ kubeconfig }, { seconds: READ_SECONDS, readsOnly: true });
    await untilReported(kubernetes, REPORT_SECONDS, (nodes) => {
      const reported = reportedBy(nodes, pattern);
      return (silent = names.filter((name) => reported.get(name)?.revision !== revision));
    });
  } catch {
    // the returned names report it
  } finally {
    kubernetes?.close();
  }
  return silent;
}
