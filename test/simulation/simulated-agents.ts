import { setTimeout as pause } from "node:timers/promises";
import { type KubernetesClient, type Node } from "../../lib/kubernetes";
import { parseUpdates } from "../../providers/kubeadm/plan/updates/updates";
import { withoutV } from "../../providers/kubeadm/plan/rollout/observed";
import {
  ALL_SOFTWARE,
  annotationKeys,
  KUBERNETES_SOFTWARE,
  OS_UPDATES,
} from "../../providers/kubeadm/plan/rollout/annotations";

const KEYS = annotationKeys();
const FOREVER_SECONDS = 1_000_000;
const CLUSTER_CONFIGURATION = {
  apiVersion: "v1",
  kind: "ConfigMap",
  namespace: "kube-system",
  name: "kubeadm-config",
};

/** What an observer saw of the nodes: "w-1 opened", "w-1 asked for v1.36.3", "w-1 closed". */
export type Seen = string[];

interface AgentOptions {
  /** How long a change takes. */
  readonly milliseconds: number;
  readonly signal: AbortSignal;
  /** "configuration 1f.2e.3d": what a machine has at hand; by default all that is asked for. */
  readonly staged?: (node: string) => readonly string[];
  /** Whether the agent of a Node that is asked for something runs; by default all do. */
  readonly runs?: (node: string) => boolean;
}

/**
 * Plays the node agents and kubelets of all Nodes of a real API server: they publish what they run, and follow the
 * annotations. The caller's signal ends it.
 *
 * @param seen gets what the rollout wrote, in order
 */
export async function obeyAnnotations(
  client: KubernetesClient,
  seen: Seen,
  options: AgentOptions,
): Promise<void> {
  const last = new Map<string, { open: boolean; asked: string | undefined }>();
  const working = new Set<string>();
  const look = (node: Node) => {
    const name = node.metadata?.name ?? "";
    const annotations = node.metadata?.annotations ?? {};
    const now = {
      open: annotations[KEYS.changesAllowed] === "true",
      asked: annotations[KEYS.desired("kubelet")],
    };
    const before = last.get(name) ?? { open: false, asked: undefined };
    last.set(name, now);
    if (now.open !== before.open) seen.push(`${name} ${now.open ? "opened" : "closed"}`);
    if (now.asked !== before.asked) seen.push(`${name} asked for ${now.asked}`);
    const isNew = annotations[KEYS.current("kubelet")] === undefined;
    const due = now.open ? dueOf(annotations) : [];
    if ((!isNew && due.length === 0) || working.has(name)) return;
    if (!isNew && options.runs?.(name) === false) return;
    working.add(name);
    const work = isNew ? publish(client, node) : install(client, node, due, options);
    work.catch(() => undefined).finally(() => working.delete(name));
  };
  await client
    .watchUntil<never, Node>({
      what: "the annotations of the Nodes",
      apiVersion: "v1",
      kind: "Node",
      seconds: FOREVER_SECONDS,
      signal: options.signal,
      decide: (nodes) => {
        nodes.forEach(look);
        return { pending: "" };
      },
    })
    .catch((error: unknown) => {
      if (!options.signal.aborted) throw error;
    });
}

function currents(version: string): Record<string, string> {
  return Object.fromEntries(KUBERNETES_SOFTWARE.map((software) => [KEYS.current(software), version]));
}

function publish(client: KubernetesClient, node: Node): Promise<unknown> {
  const version = node.status?.nodeInfo?.kubeletVersion ?? "";
  return annotate(client, node, { ...currents(version), [KEYS.ready]: "true" });
}

/** What a Node is asked for and does not have, unless its agent has given it up. */
function dueOf(annotations: Readonly<Record<string, string>>): string[] {
  const due = ALL_SOFTWARE.filter((software) => {
    const asked = annotations[KEYS.desired(software)];
    return asked !== undefined && asked !== annotations[KEYS.current(software)];
  });
  const updates = annotations[KEYS.desired(OS_UPDATES)];
  const report = parseUpdates(annotations[KEYS.current(OS_UPDATES)]);
  if (updates !== undefined && report && "hash" in report && report.hash === updates) due.push(OS_UPDATES);
  return annotations[KEYS.finalFailure] === requestsOf(due, annotations) ? [] : due;
}

const requestsOf = (due: readonly string[], annotations: Readonly<Record<string, string>>): string =>
  due.map((software) => `${software}@${withoutV(annotations[KEYS.desired(software)])}`).join(" ");

async function install(
  client: KubernetesClient,
  node: Node,
  due: readonly string[],
  { milliseconds, staged }: AgentOptions,
): Promise<void> {
  const { name = "", annotations = {} } = node.metadata ?? {};
  const others = due.filter((software) => !(KUBERNETES_SOFTWARE as readonly string[]).includes(software));
  const atHand = staged?.(name);
  const textOf = (software: string) => `${software} ${withoutV(annotations[KEYS.desired(software)])}`;
  const missing = due.map(textOf).find((text) => atHand?.includes(text) === false);
  if (missing !== undefined) {
    const message = `${missing} is not staged on this machine`;
    const finalFailure = requestsOf(due, annotations);
    await annotate(client, node, { [KEYS.message]: message, [KEYS.finalFailure]: finalFailure });
    return;
  }
  await annotate(client, node, { [KEYS.ready]: "false" });
  await pause(milliseconds);
  if (due.includes("kubelet")) await upgrade(client, node);
  for (const software of others)
    await annotate(client, node, { [KEYS.current(software)]: reportOf(software, annotations) });
  await annotate(client, node, {
    ...(due.includes("kubelet") ? currents(annotations[KEYS.desired("kubelet")]!) : {}),
    [KEYS.ready]: "true",
  });
}

/** What an agent reports of software that it has as its Node asks for it. */
const reportOf = (software: string, annotations: Readonly<Record<string, string>>): string => {
  const asked = annotations[KEYS.desired(software)] ?? "";
  return software === OS_UPDATES ? `none ${asked} 0 -` : asked;
};

async function upgrade(client: KubernetesClient, node: Node): Promise<void> {
  const version = node.metadata?.annotations?.[KEYS.desired("kubelet")] ?? "";
  if ("node-role.kubernetes.io/control-plane" in (node.metadata?.labels ?? {})) {
    const data = { ClusterConfiguration: `kubernetesVersion: ${version}\n` };
    await client.mergePatch(CLUSTER_CONFIGURATION, { data });
  }
  const status = { nodeInfo: { ...node.status?.nodeInfo, kubeletVersion: version } };
  const reference = { apiVersion: "v1", kind: "Node", name: node.metadata?.name ?? "" };
  await client.mergePatch(reference, { status }, { subresource: "status" });
}

function annotate(
  client: KubernetesClient,
  node: Node,
  annotations: Record<string, string>,
): Promise<unknown> {
  const reference = { apiVersion: "v1", kind: "Node", name: node.metadata?.name ?? "" };
  return client.mergePatch(reference, { metadata: { annotations } });
}
