import { messageOf } from "../../../lib/error-message";
import { HttpClient } from "../../../lib/http-client";
import { FetchedKubeconfig, KubeconfigRefused, KubernetesClient } from "../../../lib/kubernetes";
import { displayLine } from "../../../lib/text/display";
import { cutList } from "../../../lib/text/quote";
import { plural } from "../../../lib/text/plural";
import { Transient, waitFor } from "../../../lib/wait";
import { callPulumi, type Project } from "../../engine/pulumi";
import { notReady } from "../plan/gate";

/** Limit of a response of a gate's URL, in MiB. */
const MOST_MEBIBYTES = 1;
/** Time limit of one request. */
const REQUEST_SECONDS = 10;

/** Waits until a URL answers with a status 2xx; follows no redirect. @throws WaitTimeout with the last answer */
export async function awaitUrl(url: string, seconds: number, signal?: AbortSignal): Promise<void> {
  const client = new HttpClient({}, MOST_MEBIBYTES);
  const milliseconds = Math.min(REQUEST_SECONDS, seconds) * 1000;
  try {
    await waitFor({
      what: `a status 2xx of ${url}`,
      seconds,
      ...(signal && { signal }),
      probe: async (signal) => {
        const { status, headers } = await client
          .send({ method: "GET", url, headers: { Accept: "*/*" }, milliseconds, signal })
          .catch(laterAgain);
        if (status >= 200 && status < 300) return { done: undefined };
        const isRedirect = status >= 300 && status < 400 && headers.location !== undefined;
        return { pending: `status ${status}${isRedirect ? "; write the URL to which it redirects" : ""}` };
      },
    });
  } finally {
    client.close();
  }
}

/** Waits until all nodes of the stacks' clusters are Ready. @throws WaitTimeout that names those that are not */
export async function awaitReadyNodes(
  project: Project,
  stacks: readonly string[],
  seconds: number,
  signal: AbortSignal,
): Promise<void> {
  for (const stack of stacks) {
    const args = ["stack", "output", "kubeconfig", "--show-secrets", "--stack", stack];
    const { stdout } = await callPulumi({ project, args }).catch((error: unknown) => {
      throw new Error(`the output kubeconfig of ${stack} can't be read: ${messageOf(error)}`);
    });
    await nodesReadyOf(
      stack,
      new FetchedKubeconfig(`output kubeconfig of ${stack}`, stdout),
      seconds,
      signal,
    );
  }
}

/** Waits until all nodes of a cluster are Ready, and there is one. */
export function nodesReadyOf(
  stack: string,
  kubeconfig: FetchedKubeconfig,
  seconds: number,
  signal?: AbortSignal,
): Promise<void> {
  return waitFor({
    what: `the nodes of ${stack}`,
    seconds,
    ...(signal && { signal }),
    probe: async (signal) => {
      const nodes = await listNodes(kubeconfig, signal).catch(laterAgain);
      const open = notReady(nodes);
      if (nodes.length > 0 && open.length === 0) return { done: undefined };
      return {
        pending:
          nodes.length === 0
            ? "there is no node"
            : `${open.length} of ${plural(nodes.length, "node")} not Ready: ${cutList(open, ", ")}`,
      };
    },
  });
}

async function listNodes(kubeconfig: FetchedKubeconfig, signal: AbortSignal) {
  const limits = { seconds: REQUEST_SECONDS, callSeconds: REQUEST_SECONDS };
  const client = await KubernetesClient.connect({ kubeconfig }, { ...limits, readsOnly: true, signal });
  try {
    return await client.listNodes();
  } finally {
    client.close();
  }
}

/** @throws Transient with the message, unless nothing can change it */
function laterAgain(error: unknown): never {
  if (error instanceof KubeconfigRefused) throw error;
  throw new Transient(displayLine(messageOf(error)));
}
