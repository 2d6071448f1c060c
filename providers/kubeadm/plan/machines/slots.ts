import { namesIn, type Outputs } from "../../../../lib/pulumi/state";
import type { Role } from "../cluster/machine";
import { byIndex } from "../membership/plan";

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

/**
 * Returns the desired slots, control planes first.
 *
 * @param replace slot → requested replacements: {"w-2": 1}
 * @param namesOf names of a pool's slots. @default the lowest indexes
 */
export function desiredSlots<Pool extends { name: string; role: Role }>(
  pools: readonly Pool[],
  countOf: (pool: Pool) => number,
  replace: Readonly<Record<string, number>>,
  namesOf: (pool: Pool) => string[] = (pool) => slotNames(pool.name, countOf(pool)),
): PoolSlot<Pool>[] {
  const ordered = (["control-plane", "worker"] as const).flatMap((role) =>
    pools.filter((pool) => pool.role === role),
  );
  return ordered.flatMap((pool) =>
    namesOf(pool).map((name) => {
      return { name, pool, index: indexIn(pool.name, name), replace: replace[name] ?? 0 };
    }),
  );
}

/** Returns the index of a slot in its pool, from 0. */
const indexIn = (pool: string, slot: string): number => Number(slot.slice(pool.length + 1)) - 1;

/**
 * Returns the slots that a pool keeps: those with machines before empty ones, and of those with machines the ones whose
 * machines run and are Nodes first. So a smaller pool loses what does not work, and the next run keeps the same slots.
 *
 * @param stopped names of machines that do not run
 */
export function keptSlots(
  { name: pool, replicas }: { name: string; replicas: number },
  machines: readonly { name: string; slot: string; pool: string; joined: boolean }[],
  stopped: (machine: string) => boolean,
): string[] {
  const own = machines.filter((machine) => machine.pool === pool);
  const rank = (slot: string): number => {
    const running = own.filter((machine) => machine.slot === slot && !stopped(machine.name));
    return running.some(({ joined }) => joined) ? 0 : running.length > 0 ? 1 : 2;
  };
  const filled = [...new Set(own.map(({ slot }) => slot))]
    .filter((slot) => indexIn(pool, slot) >= 0)
    .sort((one, other) => rank(one) - rank(other) || byIndex(one, other));
  const empty = slotNames(pool, replicas).filter((slot) => !filled.includes(slot));
  return [...filled, ...empty].slice(0, replicas).sort(byIndex);
}

export type RecordedGroup = ReturnType<typeof recordedGroup>;

/**
 * Returns the machine names in a node group's outputs: those that have joined as Nodes, those that may be Nodes (after
 * a failure, also machines that have not joined), and those that the last run was meant to keep.
 */
export function recordedGroup({ nodes, members, machines }: Outputs = {}) {
  return { joined: namesIn(nodes), members: namesIn(members), kept: namesIn(machines) };
}
