import { isObject } from "../../../../lib/json";
import { parseQuantity } from "../../../../lib/kubernetes/quantity";
import { listed } from "../../../../lib/text/quote";

/** The parts of a v1 Node with what its machine has. */
export interface NodeCapacity {
  metadata?: { name?: string };
  status?: { capacity?: Record<string, string> };
}

/** The eviction signals that reserve a part of a resource, with the limits of a kubelet that has no `evictionHard`. */
const EVICTION: Readonly<Record<string, { signal: string; limit: string }>> = {
  memory: { signal: "memory.available", limit: "100Mi" },
  "ephemeral-storage": { signal: "nodefs.available", limit: "10%" },
};
const RESOURCES = ["cpu", "memory", "ephemeral-storage"];

/** Returns what a kubelet's configuration takes of a resource, and its parts as they are written; quantities that can't be read count as none. */
function reservedOf(kubelet: Readonly<Record<string, unknown>>, resource: string, capacity: number) {
  const { signal, limit } = EVICTION[resource] ?? {};
  const textIn = (field: string, key: string | undefined, otherwise?: string) => {
    const values = kubelet[field];
    if (!isObject(values)) return otherwise;
    return key !== undefined && typeof values[key] === "string" ? values[key] : undefined;
  };
  const parts = [
    textIn("systemReserved", resource),
    textIn("kubeReserved", resource),
    textIn("evictionHard", signal, limit),
  ].filter((text) => text !== undefined);
  const valueOf = (text: string) =>
    text.endsWith("%") ? (capacity * Number(text.slice(0, -1))) / 100 : (parseQuantity(text) ?? 0);
  return { parts, total: parts.reduce((sum, text) => sum + valueOf(text), 0) };
}

/**
 * Returns why a kubelet would end at its start on some Nodes: it may reserve no more than the machine has
 * (pkg/kubelet/cm, validateNodeAllocatable).
 *
 * @param kubelet the kubelet's configuration
 */
export function reservationRefusals(
  nodes: readonly NodeCapacity[],
  kubelet: Readonly<Record<string, unknown>>,
): string[] {
  return RESOURCES.flatMap((resource) => {
    const short = nodes.flatMap(({ metadata, status }) => {
      const text = status?.capacity?.[resource];
      const capacity = text === undefined ? undefined : parseQuantity(text);
      if (text === undefined || capacity === undefined) return [];
      const { parts, total } = reservedOf(kubelet, resource, capacity);
      return total > capacity ? [{ node: `${metadata?.name} has ${text}`, parts }] : [];
    });
    if (short.length === 0) return [];
    return [
      `the kubelet would reserve ${listed(short[0]!.parts, { separator: " + " })} of ${resource}, and ${listed(short.map(({ node }) => node))}: ` +
        "it would end at its start. Write less in systemReserved, kubeReserved or evictionHard",
    ];
  });
}
