import type { RolloutPool } from "./desired";

/**
 * Returns how many nodes of a pool of this size may be away at once. Percentages are rounded down, but never below
 * one.
 */
export function maxUnavailableCount(value: RolloutPool["maxUnavailable"], size: number): number {
  const count = typeof value === "number" ? value : (size * Number(value.slice(0, -1))) / 100;
  return Math.max(1, Math.floor(count) || 0);
}
