import type { KubernetesClient } from "../../../lib/kubernetes";
import { CONTROL_PLANE_GROUP, CONTROL_PLANE_LABEL, type Taint, type Machine } from "../plan/machine";
import { GROUP_LABEL, type ObservedNode, dnsPodsToMove } from "../plan/membership/nodes";
import type { NodeOutput } from "./inputs";
import type { ClusterSession } from "./cluster-session";
import { report } from "../../../lib/pulumi/log";

/** The fields of a v1 Node that membership reads. */
export interface NodeObject {
  metadata?: {
    name?: string;
    resourceVersion?: string;
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
  };
  spec?: { taints?: { key: string; value?: string; effect: string }[]; unschedulable?: boolean };
  status?: {
    conditions?: { type: string; status: string; reason?: string; message?: string }[];
    nodeInfo?: { kubeletVersion: string };
    addresses?: { type: string; address: string }[];
  };
}

/** Converts a v1 Node for membership. */
export function observeNode(node: NodeObject): ObservedNode {
  const labels = node.metadata?.labels ?? {};
  const ready = node.status?.conditions?.find(({ type }) => type === "Ready");
  return {
    name: node.metadata?.name ?? "",
    group: labels[GROUP_LABEL],
    controlPlane: CONTROL_PLANE_LABEL in labels || labels[GROUP_LABEL] === CONTROL_PLANE_GROUP,
    ready: ready?.status === "True",
    ...(ready && ready.status !== "True"
      ? { reason: [ready.reason, ready.message].filter(Boolean).join(": ") }
      : {}),
    version: (node.status?.nodeInfo?.kubeletVersion ?? "").replace(/^v/, ""),
    internalAddress: node.status?.addresses?.find(({ type }) => type === "InternalIP")?.address ?? "",
    labels,
    taints: (node.spec?.taints ?? []) as Taint[],
    ownedLabels: [],
    ownedTaints: [],
    unschedulable: node.spec?.unschedulable ?? false,
  };
}

/** Returns every Node of the cluster, in one call. */
export async function observeNodes(kubernetes: KubernetesClient): Promise<ObservedNode[]> {
  return (await kubernetes.listNodes()).map((node) => observeNode(node as NodeObject));
}

/** Returns the members for the stack's outputs, in the order of the configuration. */
export function nodeOutputs(machines: Machine[], observed: ObservedNode[]): NodeOutput[] {
  return machines.flatMap(({ name, role }) => {
    const node = observed.find((candidate) => candidate.name === name);
    return node ? [{ name, role, version: node.version, address: node.internalAddress }] : [];
  });
}

const DNS_PODS = { namespace: "kube-system", labelSelector: "k8s-app=kube-dns" };

/**
 * Spreads the DNS pods when all are on one node, with the eviction API; the scheduler then prefers another node. A pod
 * that can't be moved now is only reported, since the nodes have joined anyway.
 */
export async function spreadClusterDns(session: ClusterSession): Promise<void> {
  const { kubernetes, resource } = session;
  try {
    const [pods, nodes] = await Promise.all([kubernetes.listPods(DNS_PODS), observeNodes(kubernetes)]);
    const takers = nodes
      .filter(({ ready, unschedulable }) => ready && !unschedulable)
      .map(({ name }) => name);
    for (const { metadata, spec } of dnsPodsToMove(pods, takers)) {
      const { namespace = "", name = "", uid } = metadata ?? {};
      await kubernetes.evict({ namespace, name, uid });
      report(resource, `moved ${name} away from ${spec?.nodeName}, where all of the cluster's DNS was`);
    }
  } catch (error) {
    report(
      resource,
      `the cluster's DNS stays on one node: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}
