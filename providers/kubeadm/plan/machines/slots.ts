import { namesIn, type Outputs } from "../../../../lib/pulumi/state";
import type { Role } from "../machine";

/** A position in a pool, filled by one machine at a time: "w-2". */
interface PoolSlot<Pool> {
  name: string;
  pool: Pool;
  /** Index in the pool, from 0. */
  index: number;
  /** Number of requested replacements of its machine. */
  replace: number;
}

/** Returns the slot names of a pool: "w-1", "w-2". */
export function slotNames(pool: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${pool}-${index + 1}`);
}

/** Returns the desired slots, control planes first. @param replace slot → requested replacements: {"w-2": 1} */
export function desiredSlots<Pool extends { name: string; role: Role }>(
  pools: readonly Pool[],
  countOf: (pool: Pool) => number,
  replace: Readonly<Record<string, number>>,
): PoolSlot<Pool>[] {
  const ordered = (["control-plane", "worker"] as const).flatMap((role) =>
    pools.filter((pool) => pool.role === role),
  );
  return ordered.flatMap((pool) =>
    slotNames(pool.name, countOf(pool)).map((name, index) => {
      return { name, pool, index, replace: replace[name] ?? 0 };
    }),
  );
}

export type RecordedGroup = ReturnType<typeof recordedGroup>;

/**
 * Returns the machine names in a node group's outputs: those that have joined as Nodes, those that may be Nodes (after
 * a failure, also machines that have not joined), and those that the last run was meant to keep.
 */
export function recordedGroup({ nodes, members, machines }: Outputs = {}) {
  return { joined: namesIn(nodes), members: namesIn(members), kept: namesIn(machines) };
}
