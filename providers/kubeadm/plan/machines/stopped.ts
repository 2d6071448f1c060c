import { messageOf } from "../../../../lib/error-message";

/** Machine → status of its server or VM, which does not run. */
export type StoppedStatuses = Readonly<Record<string, string>>;

/** What a cloud says about the machines that leave or are replaced. */
export interface StoppedMachines {
  stopped: StoppedStatuses;
  /** Why the statuses are unknown. */
  refusals: { property: string; reason: string }[];
}

/** No machine was asked, or all of them run. */
export const NONE_STOPPED: StoppedMachines = { stopped: {}, refusals: [] };

/** Returns the pools that have machines in more slots than they are to have: those that do not run leave first. */
export function shrinkingPools(
  pools: readonly { name: string; replicas: number }[],
  machines: readonly { slot: string; pool: string }[],
): string[] {
  return [...new Set(machines.map(({ pool }) => pool))].filter((name) => {
    const slots = new Set(machines.flatMap(({ pool, slot }) => (pool === name ? [slot] : [])));
    return slots.size > (pools.find((pool) => pool.name === name)?.replicas ?? 0);
  });
}

/**
 * Returns the machines that can't be drained: those that do not run. Control planes are none of them unless one that runs
 * stays, since the data of the cluster is on its control planes alone.
 *
 * @param planes the control planes before the run
 * @param staying names of the machines after the run
 */
export function withoutDrain(
  stopped: StoppedStatuses,
  planes: readonly { name: string; joined: boolean }[],
  staying: ReadonlySet<string>,
): StoppedStatuses {
  const isStopped = (name: string) => Object.hasOwn(stopped, name);
  if (planes.some(({ name, joined }) => joined && !isStopped(name) && staying.has(name))) return stopped;
  const names = new Set(planes.map(({ name }) => name));
  return Object.fromEntries(Object.entries(stopped).filter(([name]) => !names.has(name)));
}

/**
 * Returns the refusal of a run that can't know which machines leave first.
 *
 * @param what what could not be read: "the servers of w"
 */
export function unreadStatuses(what: string, property: string, error: unknown): StoppedMachines {
  const reason = `${what} could not be read, and those that do not run leave first: ${messageOf(error)}`;
  return { stopped: {}, refusals: [{ property, reason }] };
}
