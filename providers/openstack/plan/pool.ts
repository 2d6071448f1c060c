import type { Role, Taint } from "../../kubeadm/plan/machine";

/** A boot volume in Cinder instead of the flavour's own disk. */
export interface RootVolume {
  /** GiB */
  size: number;
  /** Volume type; the cloud's default when absent. */
  type?: string;
}

/** A group of servers with the same configuration. */
export interface Pool {
  name: string;
  role: Role;
  replicas: number;
  /** Name or id. */
  flavor: string;
  /** Name or id. */
  image: string;
  /** Availability zones, assigned round-robin by the machine's index; the cloud chooses when empty. */
  zones: string[];
  antiAffinity: AntiAffinity;
  rootVolume?: RootVolume;
  labels: Record<string, string>;
  taints: Taint[];
  floatingIp: boolean;
  /** Number of machines that one run may replace. Control planes are always replaced one at a time. */
  maxSurge: number;
}

/** `soft`: on different hosts if possible; `strict`: on different hosts, or the server is not created. */
export type AntiAffinity = "soft" | "strict" | "none";

/** Network of a machine's port: the CIDR block of a network that the stack creates, or "id:<id>" of an existing one. */
export type NetworkKey = string;

/** Prefix of the key of an existing network. */
export const EXISTING_NETWORK = "id:";

/** The properties that identify a machine: changing any of them results in a new machine. */
export interface MachineShape {
  role: Role;
  image: string;
  flavor: string;
  rootVolume?: RootVolume;
  zone?: string;
  network: NetworkKey;
  /** Number of requested replacements. */
  replace: number;
}

/** A position in a pool, filled by one machine at a time: "w-2". */
export interface Slot {
  name: string;
  pool: string;
  shape: MachineShape;
  maxSurge: number;
}

/**
 * Returns the desired slots of the pools, control planes first, then in order of pools and indexes.
 *
 * @param network network of new machines
 * @param replace slot → number of requested replacements of its machine
 */
export function wantedSlots(
  pools: readonly Pool[],
  network: NetworkKey,
  replace: Readonly<Record<string, number>> = {},
): Slot[] {
  const ordered = [
    ...pools.filter(({ role }) => role === "control-plane"),
    ...pools.filter(({ role }) => role === "worker"),
  ];
  return ordered.flatMap((pool) =>
    Array.from({ length: pool.replicas }, (_, index) => {
      const name = slotName(pool.name, index + 1);
      const zone = pool.zones[index % Math.max(pool.zones.length, 1)];
      const shape: MachineShape = {
        role: pool.role,
        image: pool.image,
        flavor: pool.flavor,
        ...(pool.rootVolume ? { rootVolume: pool.rootVolume } : {}),
        ...(zone === undefined ? {} : { zone }),
        network,
        replace: replace[name] ?? 0,
      };
      return { name, pool: pool.name, shape, maxSurge: pool.role === "control-plane" ? 1 : pool.maxSurge };
    }),
  );
}

/** @param index from 1 */
function slotName(pool: string, index: number): string {
  return `${pool}-${index}`;
}
