import type { KubernetesClient, Node } from "../../../../lib/kubernetes";
import { CONTROL_PLANE_LABEL, type Taint, type Machine } from "../../plan/cluster/machine";
import { GROUP_LABEL, type ObservedNode, removalIn } from "../../plan/membership/nodes";
import type { NodeOutput } from "../declarations";

/** Converts a v1 Node for membership. */
export function observeNode({ metadata, spec, status }: Node): ObservedNode {
  const labels = metadata?.labels ?? {};
  const removal = removalIn(metadata?.annotations);
  const ready = status?.conditions?.find(({ type }) => type === "Ready");
  return {
    name: metadata?.name ?? "",
    uid: metadata?.uid,
    group: labels[GROUP_LABEL],
    controlPlane: CONTROL_PLANE_LABEL in labels,
    ready: ready?.status === "True",
    ...(ready && ready.status !== "True"
      ? { reason: [ready.reason, ready.message].filter(Boolean).join(": ") }
      : {}),
    version: (status?.nodeInfo?.kubeletVersion ?? "").replace(/^v/, ""),
    internalAddress: status?.addresses?.find(({ type }) => type === "InternalIP")?.address ?? "",
    labels,
    taints: (spec?.taints ?? []) as Taint[],
    ownedLabels: [],
    ownedTaints: [],
    unschedulable: spec?.unschedulable ?? false,
    ...(removal ? { removal } : {}),
  };
}

/** Returns every Node of the cluster, in one call. */
export async function observeNodes(kubernetes: Pick<KubernetesClient, "listNodes">): Promise<ObservedNode[]> {
  return (await kubernetes.listNodes()).map(observeNode);
}

/** Returns the members for the stack's outputs, in the order of the configuration. */
export function nodeOutputs(machines: Machine[], observed: ObservedNode[]): NodeOutput[] {
  return machines.flatMap(({ name, role }) => {
    const node = observed.find((candidate) => candidate.name === name);
    return node ? [{ name, role, version: node.version, address: node.internalAddress }] : [];
  });
}
