import type { Machine } from "../cluster/machine";
import { quorum } from "./quorum";

/** How many unreachable machines a run may leave out: a number, or a percentage of all machines, rounded down. */
export type UnreachableLimit = number | `${number}%`;

/** Unreachable machines that a run may leave out and still succeed. */
interface Tolerance {
  /** Names, in the order of the machines: all unreachable machines or none of them. */
  tolerated: string[];
  /** Why none is tolerated although the configuration has a limit. */
  excess?: string;
}

/**
 * Decides which unreachable machines may be left out. Beyond the limit none is, since then the cause is unlikely to be
 * a single machine. Whatever the limit, no more control planes are left out than etcd tolerates failures: without its
 * quorum the cluster accepts no change anyway.
 *
 * @param machines all machines of the cluster
 * @param unreachable names of machines that can't be reached; others are ignored
 */
export function toleratedUnreachable(
  machines: readonly Pick<Machine, "name" | "role">[],
  unreachable: readonly string[],
  limit: UnreachableLimit = 0,
): Tolerance {
  const missing = machines.filter(({ name }) => unreachable.includes(name));
  const maximum = limitCount(limit, machines.length);
  if (missing.length === 0 || maximum === 0) return { tolerated: [] };
  if (missing.length > maximum) {
    const allowed = `rollout.unreachable allows ${maximum} of ${machines.length} machines`;
    return { tolerated: [], excess: `${missing.length} machines can't be reached, and ${allowed}` };
  }
  const planes = machines.filter(isControlPlane);
  const failures = planes.length - quorum(planes.length);
  const missingPlanes = missing.filter(isControlPlane);
  if (missingPlanes.length > failures) {
    const names = missingPlanes.map(({ name }) => name).join(", ");
    const rule = `etcd tolerates ${failures} of ${planes.length} control planes`;
    return { tolerated: [], excess: `${names} can't be reached, and ${rule}` };
  }
  return { tolerated: missing.map(({ name }) => name) };
}

const isControlPlane = ({ role }: Pick<Machine, "role">) => role === "control-plane";

function limitCount(limit: UnreachableLimit, machines: number): number {
  return typeof limit === "number" ? limit : Math.floor((machines * Number(limit.slice(0, -1))) / 100);
}
