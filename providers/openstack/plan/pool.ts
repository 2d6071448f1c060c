import type { Role, Taint } from "../../kubeadm/plan/machine";

/** A boot volume in Cinder instead of the flavour's own disk. */
export interface RootVolume {
  /** GiB */
  size: number;
  /** Volume type; the cloud's default when absent. */
  type?: string;
}

/** Servers that are alike. */
export interface Pool {
  name: string;
  role: Role;
  replicas: number;
  /** Name or id. */
  flavor: string;
  /** Name or id. */
  image: string;
  /** Availability zones, taken in turn by the index of the machine; the cloud chooses when empty. */
  zones: string[];
  antiAffinity: AntiAffinity;
  rootVolume?: RootVolume;
  labels: Record<string, string>;
  taints: Taint[];
  floatingIp: boolean;
  /** Machines that one run may replace; control planes go one at a time whatever it says. */
  maxSurge: number;
}

/** `soft`: on different hosts where there are enough; `strict`: on different hosts or not at all. */
export type AntiAffinity = "soft" | "strict" | "none";

/** Where a machine's port lies: a network of the stack's own by its block, or one that exists by its id. */
export type NetworkKey = string;

/** How the key of a network that exists begins. */
export const EXISTING_NETWORK = "id:";

/** What makes a machine different from another: a change of it is another machine. */
export interface MachineShape {
  role: Role;
  image: string;
  flavor: string;
  rootVolume?: RootVolume;
  zone?: string;
  network: NetworkKey;
  /** Counts up when somebody asks for a replacement. */
  replace: number;
}

/** A place in a pool that one machine at a time fills: "w-2". */
export interface Slot {
  name: string;
  pool: string;
  shape: MachineShape;
  maxSurge: number;
}

/**
 * The places that the pools ask for, control planes first, then pools and indexes in order.
 *
 * @param network where new machines go
 * @param replace how often the machine of a slot was asked to be replaced
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
