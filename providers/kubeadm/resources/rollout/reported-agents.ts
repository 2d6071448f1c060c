import { annotationKeys } from "../../plan/rollout/annotations";
import { outOfReach } from "../../plan/rollout/state";
import { observeRolloutNode } from "../../plan/rollout/observed";
import { KubernetesClient, type Node } from "../../../../lib/kubernetes";
import { WaitTimeout } from "../../../../lib/wait";
import type { ReportedAgent } from "../../plan/rollout/node-agents";
import { listed } from "../../../../lib/text/quote";
import type { ClusterReading } from "../session/shared-reading";

const HESITATE_SECONDS = 4;

type Reported = Map<string, ReportedAgent>;

/** Returns the status that the agents of a cluster have reported, by Node. @param pattern of the annotation keys */
function reportedBy(nodes: readonly Node[], pattern: string): Reported {
  const keys = annotationKeys(pattern);
  return new Map(
    nodes.map((object) => {
      const { name = "", annotations = {} } = object.metadata ?? {};
      const revision = annotations[keys.revision];
      const hasReported = annotations[keys.ready] !== undefined || revision !== undefined;
      return [
        name,
        { hasReported, revision, outOfReach: outOfReach(observeRolloutNode(object, pattern), []) },
      ];
    }),
  );
}

/** Watches the Nodes until none of these agents is missing, or the time is over. @returns the last status */
async function watchReports(
  kubernetes: KubernetesClient,
  pattern: string,
  seconds: number,
  missingIn: (reported: Reported) => string[],
  { reported = new Map(), progress }: { reported?: Reported; progress?: (line: string) => void } = {},
): Promise<Reported> {
  const decide = (nodes: readonly Node[]) => {
    reported = reportedBy(nodes, pattern);
    const missing = missingIn(reported);
    return missing.length === 0 ? { done: undefined } : { pending: listed(missing) };
  };
  const what = "the node agents to report";
  await kubernetes
    .watchUntil<void, Node>({ apiVersion: "v1", kind: "Node", what, seconds, decide, progress })
    .catch((error: unknown) => {
      if (!(error instanceof WaitTimeout)) throw error;
    });
  return reported;
}

/**
 * Reads the agents' status, and waits a few seconds for agents without one, since an agent whose Node has
 * just come back reports soon.
 *
 * @param names of machines that should have an agent
 * @throws Error when the cluster can't be read
 */
export async function readReportedAgents(
  { kubernetes, listNodes }: ClusterReading,
  pattern: string,
  names: readonly string[],
): Promise<Reported> {
  const missingIn = (reported: Reported) => names.filter((name) => reported.get(name)?.hasReported === false);
  const reported = reportedBy(await listNodes(), pattern);
  if (missingIn(reported).length === 0) return reported;
  return watchReports(kubernetes, pattern, HESITATE_SECONDS, missingIn, { reported });
}

interface ReportWait {
  /** Of the installed agents, by Node. */
  revisions: ReadonlyMap<string, string>;
  /** Time limit, and that for the cluster to answer. */
  seconds: number;
  progress: (line: string) => void;
}

/**
 * Waits until newly installed agents have reported on their Nodes.
 *
 * @returns the names of those that have not
 * @throws Error when the cluster can't be read
 */
export async function awaitAgentReports(
  kubeconfig: string,
  pattern: string,
  { revisions, seconds, progress }: ReportWait,
): Promise<string[]> {
  const missingIn = (reported: Reported) =>
    [...revisions.keys()].filter((name) => reported.get(name)?.revision !== revisions.get(name));
  const kubernetes = await KubernetesClient.connect({ kubeconfig }, { seconds, readsOnly: true });
  try {
    return missingIn(await watchReports(kubernetes, pattern, seconds, missingIn, { progress }));
  } finally {
    kubernetes.close();
  }
}
