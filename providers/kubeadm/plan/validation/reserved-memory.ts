import { isObject } from "../../../../lib/json";
import { parseQuantity } from "../../../../lib/kubernetes/quantity";
import { issueAt, type ValidationIssue, valueAt } from "../../../../lib/validation/validation-issue";

const MEBIBYTE = 2 ** 20;
/** A kubelet's own limit of evictions. */
const EVICTION = "100Mi";
/** Bytes of a quantity; 0 if it is absent, undefined if it depends on the machine or is none. */
function bytesOf(value: unknown): number | undefined {
  if (value === undefined || value === "0%" || value === "100%") return 0;
  return typeof value === "string" ? parseQuantity(value) : undefined;
}

/** What the kubelet keeps for itself, the system and evictions. */
function nodeReservation(kubelet: object): number | undefined {
  const { evictionHard, mergeDefaultEvictionSettings } = kubelet as Record<string, unknown>;
  const limit = valueAt(evictionHard, ["memory.available"]);
  // kubeadm leaves an empty map out
  const isEmpty = !isObject(evictionHard) || Object.keys(evictionHard).length === 0;
  const isDefault = isEmpty || mergeDefaultEvictionSettings === true;
  const parts = [
    bytesOf(valueAt(kubelet, ["systemReserved", "memory"])),
    bytesOf(valueAt(kubelet, ["kubeReserved", "memory"])),
    bytesOf(limit ?? (isDefault ? EVICTION : undefined)),
  ];
  return sum(parts);
}

const sum = (parts: readonly (number | undefined)[]): number | undefined =>
  parts.some((part) => part === undefined)
    ? undefined
    : parts.reduce<number>((total, part) => total + (part ?? 0), 0);

const shown = (bytes: number): string =>
  bytes % MEBIBYTE === 0 ? `${bytes / MEBIBYTE}Mi` : String(Math.round(bytes));

/**
 * Returns an issue when the memory that the policy Static keeps free is not what the kubelet reserves by its other fields: it
 * would not start. Paths are relative to the kubelet's configuration.
 */
export function reservedMemoryIssues(kubelet: object): ValidationIssue[] {
  const { memoryManagerPolicy, reservedMemory = [] } = kubelet as Record<string, unknown>;
  if (memoryManagerPolicy !== "Static" || !Array.isArray(reservedMemory)) return [];
  const free = sum(reservedMemory.map((one: unknown) => bytesOf(valueAt(one, ["limits", "memory"]))));
  const reserved = nodeReservation(kubelet);
  if (free === undefined || reserved === undefined || Math.round(free) === Math.round(reserved)) return [];
  return issueAt(
    ["reservedMemory"],
    `has ${shown(free)} of memory, and systemReserved, kubeReserved and evictionHard have ${shown(reserved)}; memoryManagerPolicy: Static needs as much, write limits: {memory: ${shown(reserved)}}`,
  );
}
