import { KubernetesClient } from "../../lib/kubernetes";
import { SshConnection, type SshTarget } from "../../lib/ssh";
import { Transient, waitFor } from "../../lib/wait";
import type { NodeObject } from "../node-status";
import type { Reporter } from "../progress";
import { readThroughApiServer } from "./api-server-proxy";
import { decideReady } from "./node-readiness";
import { CHECK_NAMESPACE, ECHO, ECHO_REPLICAS, echoObjects } from "./echo-objects";

/** A running cluster, and how to reach it for the check. */
export interface CheckedCluster {
  /** Text of the administrator's kubeconfig. */
  readonly kubeconfig: string;
  /** Path of a file with the same. */
  readonly kubeconfigFile: string;
  readonly kubectl: string;
  /** The nodes that must exist and be Ready. */
  readonly nodes: readonly string[];
  /** The same machines over SSH: each must reach the Service. */
  readonly machines: readonly SshTarget[];
}

const SECONDS = { connect: 60, ready: 180, deployment: 180, answer: 60, request: 5 };

interface DeploymentObject {
  readonly metadata?: { readonly generation?: number };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly updatedReplicas?: number;
    readonly availableReplicas?: number;
  };
}

/**
 * Verifies that a cluster works: every node is Ready, a Deployment becomes available, and its Service answers the
 * operator through the API server and every node at its cluster address.
 * @throws Error that names what does not work and what was observed last
 */
export async function checkCluster(report: Reporter, cluster: CheckedCluster): Promise<void> {
  const client = await KubernetesClient.connect(cluster, { seconds: SECONDS.connect });
  try {
    await report.step(`every node is Ready: ${cluster.nodes.join(", ")}`, async (update) => {
      await client.watchUntil<true, NodeObject>({
        what: "every node to be Ready",
        apiVersion: "v1",
        kind: "Node",
        seconds: SECONDS.ready,
        progress: update,
        decide: (nodes) => decideReady(cluster.nodes, nodes),
      });
    });
    await report.step(`a Deployment of ${ECHO_REPLICAS} replicas is available`, async (update) => {
      for (const object of echoObjects)
        await client.apply(object, { fieldManager: "foresail-sandbox", force: true });
      await client.watchUntil<true, DeploymentObject>({
        what: `the Deployment ${CHECK_NAMESPACE}/${ECHO}`,
        apiVersion: "apps/v1",
        kind: "Deployment",
        namespace: CHECK_NAMESPACE,
        name: ECHO,
        seconds: SECONDS.deployment,
        progress: update,
        decide: ([deployment]) => decideAvailable(deployment),
      });
    });
    await report.step("its Service answers to the operator, through the API server", async (update) => {
      await waitFor({
        what: "an answer through the API server",
        seconds: SECONDS.answer,
        progress: update,
        probe: async () => {
          await readThroughApiServer(
            cluster,
            `/api/v1/namespaces/${CHECK_NAMESPACE}/services/${ECHO}:http/proxy/`,
          );
          return { done: true };
        },
      });
    });
    const service = await client.get<{ spec?: { clusterIP?: string } }>({
      apiVersion: "v1",
      kind: "Service",
      namespace: CHECK_NAMESPACE,
      name: ECHO,
    });
    const address = service?.spec?.clusterIP;
    if (address === undefined)
      throw new Error(`the Service ${CHECK_NAMESPACE}/${ECHO} has no cluster address`);
    await report.step(`its Service answers to every node at ${address}`, async (update) => {
      await Promise.all(cluster.machines.map((machine) => askFromMachine(machine, address, update)));
    });
  } finally {
    client.close();
  }
}

function decideAvailable(deployment: DeploymentObject | undefined): { done: true } | { pending: string } {
  const { observedGeneration = 0, updatedReplicas = 0, availableReplicas = 0 } = deployment?.status ?? {};
  const isCurrent = observedGeneration >= (deployment?.metadata?.generation ?? Infinity);
  if (isCurrent && updatedReplicas === ECHO_REPLICAS && availableReplicas >= ECHO_REPLICAS)
    return { done: true };
  return { pending: `${availableReplicas} of ${ECHO_REPLICAS} replicas are available` };
}

/**
 * Sends requests from a machine until every replica has answered, which proves that each node reaches pods on the
 * others.
 */
async function askFromMachine(
  machine: SshTarget,
  address: string,
  update: (text: string) => void,
): Promise<void> {
  const connection = await SshConnection.open(machine, { seconds: SECONDS.answer });
  const curl = `curl --noproxy '*' --silent --show-error --fail --max-time ${SECONDS.request} http://${address}/`;
  const answered = new Set<string>();
  try {
    await waitFor({
      what: `answers of ${ECHO_REPLICAS} replicas at http://${address}/ on ${machine.name}`,
      seconds: SECONDS.answer,
      progress: update,
      longestPauseMilliseconds: 500,
      probe: async () => {
        try {
          const answer = await connection.run(curl, {
            name: "ask the Service",
            seconds: 2 * SECONDS.request,
          });
          answered.add(answer.stdout.trim());
        } catch (error) {
          throw new Transient(error instanceof Error ? error.message : String(error));
        }
        if (answered.size >= ECHO_REPLICAS) return { done: true };
        return { pending: `answered so far: ${[...answered].join(", ")}` };
      },
    });
  } finally {
    connection.close();
  }
}
