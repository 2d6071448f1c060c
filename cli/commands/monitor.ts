import { resumeCluster, type ResumeRef } from "../../providers/azimuth/client/cluster-record";
import { monitorServices } from "../../providers/azimuth/client/services-monitor";
import { KubernetesClient } from "../../lib/kubernetes";
import { userAgent as agentOf } from "../../lib/version";
import { displayLine } from "../../lib/text/display";
import { EXIT } from "../terminal/exit-codes";
import { findProject, type Project, callPulumiJson, findStack } from "../engine/pulumi";
import { onInterrupts, print } from "../terminal/terminal";

const CONNECT_SECONDS = 3600;

/**
 * Follows the services of a stack's cluster until it is interrupted.
 *
 * @returns the exit code
 */
export async function monitor(options: { stack?: string }, say = print): Promise<number> {
  const project = await findProject();
  const stack = await findStack(project, options.stack);
  const { place: ref, kubeconfig } = await readOutputs(project, stack);
  const end = new AbortController();
  const forget = onInterrupts(() => end.abort());
  const userAgent = agentOf({ stack: `${project.name}/${stack} monitor` });
  const tell = (event: string) => say(monitorLine(event));
  try {
    const management = await KubernetesClient.connect(
      { kubeconfig },
      { seconds: CONNECT_SECONDS, signal: end.signal, authorizedPath: "/api", userAgent, progress: tell },
    );
    try {
      for (const line of await resumeCluster(management, ref)) tell(line);
      await monitorServices({ management, place: ref, signal: end.signal, say: tell, userAgent });
    } finally {
      management.close();
    }
  } catch (error) {
    if (!end.signal.aborted) throw error;
  } finally {
    forget();
  }
  return EXIT.done;
}

/** Returns the line of an event: one line, whatever the texts from the cluster contain. */
export function monitorLine(event: string, at = new Date()): string {
  return `${at.toISOString()} ${displayLine(event)}`;
}

async function readOutputs(
  project: Project,
  stack: string,
): Promise<{ place: ResumeRef; kubeconfig: string }> {
  const args = ["stack", "output", "--json", "--show-secrets", "--stack", stack];
  const { monitor: ref, managementKubeconfig: kubeconfig } = (await callPulumiJson({ project, args })) as {
    monitor?: ResumeRef;
    managementKubeconfig?: string;
  };
  if (ref === undefined || kubeconfig === undefined)
    throw new Error(
      `the stack ${stack} has no services to follow: only stacks of the system "azimuth" have services, after their first up`,
    );
  return { place: ref, kubeconfig };
}
