import { CONTROL_PLANE_GROUP } from "../machine";
import type { ObservedNode } from "./observed-node";
import type { NodeGroupStep } from "../steps";
import { byIndex } from "./plan";

/** Names of machines by worker pool. */
export type Pools = Readonly<Record<string, readonly string[]>>;

/** A machine of a pool that is no longer configured. */
export interface RemovedMember {
  pool: string;
  machine: string;
  /** Whether its Node is in the cluster; true when the Nodes could not be read. */
  hasNode: boolean;
  lost: boolean;
}

/**
 * Returns the machines of pools that are no longer configured. The resource of such a pool is deleted, and a deletion
 * has neither steps in a preview nor the current list of lost machines, so the control planes' group reports them.
 *
 * @param recorded the pools of the last run; undefined in state of older releases, where the Nodes' labels are used
 * @param leaving the pools that were removed earlier and had Nodes then: their deletion may have failed
 * @param observed the cluster's Nodes, or undefined when they could not be read
 */
export function removedMembers(args: {
  configured: Pools;
  recorded: Pools | undefined;
  leaving: Pools;
  lost: readonly string[];
  observed: readonly ObservedNode[] | undefined;
}): RemovedMember[] {
  const { configured, observed, leaving, lost } = args;
  const recorded = args.recorded ?? poolsOf(observed ?? []);
  const isRemoved = (pool: string) => pool !== CONTROL_PLANE_GROUP && !(pool in configured);
  const fresh = Object.keys(recorded).filter(isRemoved);
  const earlier = Object.keys(leaving).filter((pool) => isRemoved(pool) && !fresh.includes(pool));
  const live = poolsOf(observed ?? []);
  const nodes = new Set(observed?.map(({ name }) => name));
  const membersOf = (pool: string) => {
    const present = live[pool] ?? [];
    const absent = (recorded[pool] ?? []).filter((name) => !nodes.has(name));
    return [...present, ...absent]
      .sort((one, other) => byIndex(other, one))
      .map((machine) => {
        const hasNode = observed === undefined || nodes.has(machine);
        return { pool, machine, hasNode, lost: lost.includes(machine) };
      });
  };
  return [...fresh, ...earlier].flatMap(membersOf);
}

/** Returns the machines that have a Node, by pool: those that the next preview has to check again. */
export function poolsThatLeave(members: readonly RemovedMember[]): Record<string, string[]> {
  const pools: Record<string, string[]> = {};
  for (const { pool, machine, hasNode } of members) if (hasNode) (pools[pool] ??= []).push(machine);
  return pools;
}

/** Returns what happens to a machine of a removed pool. */
export function removedMemberStep({ pool, machine, hasNode, lost }: RemovedMember): NodeGroupStep {
  if (lost) return { kind: "loseOfPool", machine, pool };
  return { kind: hasNode ? "remove" : "resetOfPool", machine, pool };
}

function poolsOf(observed: readonly ObservedNode[]): Record<string, string[]> {
  const pools: Record<string, string[]> = {};
  for (const { name, group } of observed) if (group !== undefined) (pools[group] ??= []).push(name);
  return pools;
}
