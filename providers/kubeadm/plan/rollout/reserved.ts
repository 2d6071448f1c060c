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
/** Sums of decimal fractions differ by less. */
const ROUNDING = 1e-9;
const RESOURCES = ["cpu", "memory", "ephemeral-storage"];

/** Returns what a kubelet's configuration takes of a resource, and its parts as they are written; quantities that can't be read count as none. */
function reservedOf(kubelet: Readonly<Record<string, unknown>>, resource: string, capacity: number) {
  const { signal, limit } = EVICTION[resource] ?? {};
  const textsIn = (field: string, key = "") => {
    const values = kubelet[field];
    const text = isObject(values) ? values[key] : undefined;
    return typeof text === "string" ? [text] : [];
  };
  const { evictionHard, mergeDefaultEvictionSettings } = kubelet;
  const hasLimits = isObject(evictionHard) && Object.keys(evictionHard).length > 0;
  const limits = textsIn("evictionHard", signal);
  const byDefault = limits.length === 0 && (!hasLimits || mergeDefaultEvictionSettings === true);
  const parts = [
    ...textsIn("systemReserved", resource),
    ...textsIn("kubeReserved", resource),
    // these two turn the limit off
    ...limits.filter((text) => text !== "0%" && text !== "100%"),
    ...(byDefault && limit !== undefined ? [limit] : []),
  ];
  const valueOf = (text: string) =>
    text.endsWith("%") ? (capacity * Number(text.slice(0, -1))) / 100 : (parseQuantity(text) ?? 0);
  return { parts, total: parts.reduce((sum, text) => sum + valueOf(text), 0) };
}

/**
 * Returns why a kubelet would end at its start on some Nodes: it may reserve no more than the machine has
 * (pkg/kubelet/cm, validateNodeAllocatable). Processors that are reserved by number take the place of an amount.
 *
 * @param kubelet the kubelet's configuration
 */
export function reservationRefusals(
  nodes: readonly NodeCapacity[],
  kubelet: Readonly<Record<string, unknown>>,
): string[] {
  const amounts = kubelet["reservedSystemCPUs"] === undefined ? RESOURCES : RESOURCES.slice(1);
  return amounts.flatMap((resource) => {
    const short = nodes.flatMap(({ metadata, status }) => {
      const text = status?.capacity?.[resource];
      const capacity = text === undefined ? undefined : parseQuantity(text);
      if (text === undefined || capacity === undefined) return [];
      const { parts, total } = reservedOf(kubelet, resource, capacity);
      return total - capacity > capacity * ROUNDING ? [{ node: `${metadata?.name} has ${text}`, parts }] : [];
    });
    if (short.length === 0) return [];
    return [
      `the kubelet would reserve ${listed(short[0]!.parts, { separator: " + " })} of ${resource}, and ${listed(short.map(({ node }) => node))}: ` +
        "it would end at its start. Write less in systemReserved, kubeReserved or evictionHard",
    ];
  });
}
