import { namesIn, type Outputs } from "../../../../lib/pulumi/state";
import type { Role } from "../machine";

/** A position in a pool, filled by one machine at a time: "w-2". */
export interface PoolSlot<Pool> {
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

/**
 * Returns the desired slots of pools, control planes first, then in order of pools and indexes.
 *
 * @param replace slot → number of requested replacements of its machine: {"w-2": 1}
 */
export function desiredSlots<Pool extends { name: string; role: Role }>(
  pools: readonly Pool[],
  countOf: (pool: Pool) => number,
  replace: Readonly<Record<string, number>>,
): PoolSlot<Pool>[] {
  return (["control-plane", "worker"] as const).flatMap((role) =>
    pools
      .filter((pool) => pool.role === role)
      .flatMap((pool) =>
        slotNames(pool.name, countOf(pool)).map((name, index) => ({
          name,
          pool,
          index,
          replace: replace[name] ?? 0,
        })),
      ),
  );
}

/** Names of the machines of a recorded node group. */
export interface RecordedGroup {
  /** Machines that have joined as Nodes. */
  joined: string[];
  /** Machines that may be Nodes: after a failure, also those that have not joined. */
  members: string[];
  /** Machines that the last run was meant to keep. */
  kept: string[];
}

/** Returns the machine names in a node group's outputs. */
export function recordedGroup({ nodes, members, machines }: Outputs = {}): RecordedGroup {
  return { joined: namesIn(nodes), members: namesIn(members), kept: namesIn(machines) };
}
