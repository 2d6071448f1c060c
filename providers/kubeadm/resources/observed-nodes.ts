import type { KubernetesClient } from "../../../lib/kubernetes";
import { CONTROL_PLANE_GROUP, CONTROL_PLANE_LABEL, type Taint } from "../plan/machine";
import { GROUP_LABEL, type ObservedNode } from "../plan/membership/nodes";

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
