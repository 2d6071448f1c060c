import type { RolloutPool } from "./desired";

/** How many of a pool of this size may be away at once: a percentage is rounded down, and one always may. */
export function maxUnavailableCount(value: RolloutPool["maxUnavailable"], size: number): number {
  const count = typeof value === "number" ? value : (size * Number(value.slice(0, -1))) / 100;
  return Math.max(1, Math.floor(count) || 0);
}
