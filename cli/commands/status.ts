import {
  CLUSTER_HISTORY,
  CLUSTER_LEASE,
  KubernetesClient,
  type KubernetesObject,
  type LeaseObject,
} from "../../lib/kubernetes";
import { describeHolder, pauseRequested, readHolder } from "../../lib/kubernetes/lease-holder";
import { historyOf } from "../../lib/kubernetes/history";
import { displayJson } from "../../lib/text/display";
import { controlPlanesOf } from "../../providers/kubeadm/plan/cluster/machine";
import { warningDays } from "../../providers/kubeadm/plan/certificates/validity";
import { observeRolloutNode } from "../../providers/kubeadm/plan/rollout/observed";
import { type ClusterInState, readClusterState, stackKubeconfig } from "../engine/cluster-state";
import { type StatusFacts, clusterStatus, statusLines } from "../status/status";
import { EXIT, UsageError } from "../terminal/exit-codes";
import { print } from "../terminal/terminal";

export interface StatusOptions {
  readonly stack?: string;
  readonly output: "text" | "json";
}

export interface HistoryOptions extends StatusOptions {
  /** How many lines, the newest last. */
  readonly last: string;
}

/** Time limit for a control plane to answer. */
const SECONDS = 20;

/**
 * Prints the state of a stack's cluster, from its API and what the node agents report; changes nothing.
 *
 * @returns the exit code: `attention` if something needs it
 */
export async function status({ stack, output }: StatusOptions, say = print): Promise<number> {
  const inState = await readClusterState(stack);
  const facts = await withCluster(inState, (client) => readFacts(client, inState));
  const found = clusterStatus(facts);
  if (output === "json") say(displayJson(found));
  else for (const line of statusLines(found, facts.now)) say(line);
  return found.problems.length > 0 ? EXIT.attention : EXIT.done;
}

/** Prints what foresail did to a stack's cluster, the newest last. @returns the exit code */
export async function history({ stack, output, last }: HistoryOptions, say = print): Promise<number> {
  if (!/^[1-9]\d{0,2}$/.test(last)) throw new UsageError(`--last ${last}: write a number from 1 to 999`);
  const inState = await readClusterState(stack);
  const lines = (await withCluster(inState, readHistory)).slice(-Number(last));
  if (output === "json") say(displayJson({ history: lines }));
  else for (const line of lines.length > 0 ? lines : ["nothing is recorded yet"]) say(line);
  return EXIT.done;
}

async function withCluster<T>({ rollout }: ClusterInState, work: (client: KubernetesClient) => Promise<T>) {
  const options = { seconds: SECONDS, readsOnly: true };
  const client = await KubernetesClient.connect({ kubeconfig: stackKubeconfig(rollout.kubeconfig) }, options);
  return work(client).finally(() => client.close());
}

const readHistory = async (client: KubernetesClient): Promise<string[]> =>
  historyOf(await client.get(CLUSTER_HISTORY));

async function readFacts(client: KubernetesClient, { rollout }: ClusterInState): Promise<StatusFacts> {
  const [nodes, members, lease, pause, lines] = await Promise.all([
    client.listNodes(),
    client.listPods({ namespace: "kube-system", labelSelector: "component=etcd" }),
    client.get<LeaseObject>(CLUSTER_LEASE),
    pauseRequested(client),
    readHistory(client),
  ]);
  const { specification, machines, certificates } = rollout;
  const ready = new Set(members.filter(isReady).map((pod) => pod.spec?.nodeName));
  // a cluster without any has an etcd elsewhere
  const planes = members.length === 0 ? [] : controlPlanesOf(machines);
  const holder = readHolder(lease);
  const last = lines.at(-1);
  return {
    now: new Date(),
    cluster: specification.name,
    version: specification.version,
    warningDays: warningDays(specification, certificates?.renewBeforeDays),
    machines: machines.map(({ name }) => name),
    nodes: nodes.map((node) => observeRolloutNode(node, rollout.rollout.annotations)),
    etcd: planes.map(({ name }) => ({ node: name, ready: ready.has(name) })),
    ...(holder === undefined ? {} : { holder: describeHolder(holder) }),
    ...(pause === undefined ? {} : { pause }),
    ...(last === undefined ? {} : { last }),
  };
}

const isReady = ({
  status: found,
}: KubernetesObject & { status?: { conditions?: { type: string; status: string }[] } }) =>
  found?.conditions?.some(({ type, status: value }) => type === "Ready" && value === "True") ?? false;
