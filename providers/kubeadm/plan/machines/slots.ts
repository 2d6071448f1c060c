import { namesIn, type StateResources } from "../../../../lib/pulumi/state-resources";
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

type Outputs = Readonly<Record<string, unknown>>;

/** A resource in a stack's state. */
export interface RecordedResource {
  name: string;
  type: string;
  outputs: Outputs;
}

/** Prefix of the types of foresail's own resources in the state. */
const OWN = "pulumi-nodejs:dynamic/foresail:";

/** The resources in a stack's state, by type and name. */
export class RecordedResources {
  readonly all: readonly RecordedResource[];

  constructor(resources: StateResources) {
    this.all = Object.entries(resources).map(([urn, { type, outputs = {} }]) => ({
      name: urn.split("::").at(-1) ?? "",
      type: String(type).replace(OWN, ""),
      outputs,
    }));
  }

  /** Returns the resources of a type; foresail's own types have no prefix: "NodeGroup". */
  of(type: string): RecordedResource[] {
    return this.all.filter((resource) => resource.type === type);
  }

  /** Returns a resource's outputs, or undefined if the state does not have it. */
  outputs(type: string, name: string): Outputs | undefined {
    return this.of(type).find((resource) => resource.name === name)?.outputs;
  }
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
