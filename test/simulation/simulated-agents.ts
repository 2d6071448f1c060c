import { setTimeout as pause } from "node:timers/promises";
import { type KubernetesClient, type Node } from "../../lib/kubernetes";
import { annotationKeys, KUBERNETES_SOFTWARE } from "../../providers/kubeadm/plan/rollout/annotations";

const KEYS = annotationKeys();
const FOREVER_SECONDS = 1_000_000;
const CONFIGURATION = {
  apiVersion: "v1",
  kind: "ConfigMap",
  namespace: "kube-system",
  name: "kubeadm-config",
};

/** What an observer saw of the nodes: "w-1 opened", "w-1 asked for v1.36.3", "w-1 closed". */
export type Seen = string[];

/**
 * Plays the node agents and kubelets of all Nodes of a real API server: they publish what they run, and follow the
 * annotations. The caller's signal ends it.
 *
 * @param seen gets what the rollout wrote, in order
 */
export async function obeyAnnotations(
  client: KubernetesClient,
  seen: Seen,
  options: { milliseconds: number; signal: AbortSignal },
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
    const current = annotations[KEYS.current("kubelet")];
    const hasWork = current === undefined || (now.open && now.asked !== undefined && now.asked !== current);
    if (!hasWork || working.has(name)) return;
    working.add(name);
    const work = current === undefined ? publish(client, node) : install(client, node, options.milliseconds);
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

async function install(client: KubernetesClient, node: Node, milliseconds: number): Promise<void> {
  const version = node.metadata?.annotations?.[KEYS.desired("kubelet")] ?? "";
  await annotate(client, node, { [KEYS.ready]: "false" });
  await pause(milliseconds);
  if ("node-role.kubernetes.io/control-plane" in (node.metadata?.labels ?? {})) {
    const data = { ClusterConfiguration: `kubernetesVersion: ${version}\n` };
    await client.mergePatch(CONFIGURATION, { data });
  }
  const status = { nodeInfo: { ...node.status?.nodeInfo, kubeletVersion: version } };
  const reference = { apiVersion: "v1", kind: "Node", name: node.metadata?.name ?? "" };
  await client.mergePatch(reference, { status }, { subresource: "status" });
  await annotate(client, node, { ...currents(version), [KEYS.ready]: "true" });
}

function annotate(
  client: KubernetesClient,
  node: Node,
  annotations: Record<string, string>,
): Promise<unknown> {
  const reference = { apiVersion: "v1", kind: "Node", name: node.metadata?.name ?? "" };
  return client.mergePatch(reference, { metadata: { annotations } });
}
