import { shortHash } from "../../../lib/short-hash";
import type { Role, Taint } from "../../kubeadm/plan/cluster/machine";
import type { PlannedMachine } from "../../kubeadm/plan/machines/batches";
import {
  hashedValues,
  readShape,
  shapeMetadata,
  type MachineField,
  type MachineFields,
} from "../../kubeadm/plan/machines/fields";
import { desiredSlots, keptSlots } from "../../kubeadm/plan/machines/slots";

/** A boot volume in Cinder instead of the flavor's own disk, as state has it. */
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
  /** Boot from a volume in Cinder; the cloud's default type when `type` is absent. */
  rootVolume?: { sizeGiB: number; type?: string };
  labels: Record<string, string>;
  taints: Taint[];
  floatingIp: boolean;
  /** Number of machines that one run may replace. Control planes are always replaced one at a time. */
  replacementsPerRun: number;
}

/** `soft`: on different hosts if possible; `strict`: on different hosts, or the server is not created. */
export type AntiAffinity = "soft" | "strict" | "none";

/** Network of a machine's port: the CIDR block of a network that the stack creates, or "id:<id>" of an existing one. */
export type NetworkKey = string;

/** Prefix of the key of an existing network. */
export const EXISTING_NETWORK = "id:";

/** The properties that, with role and number of replacements, identify a machine: another value means a new machine. */
export interface MachineShape {
  image: string;
  flavor: string;
  rootVolume?: RootVolume;
  zone?: string;
  network: NetworkKey;
}

/** A field that every machine has. */
const required = (label: string): MachineField<string> => ({
  label,
  isRequired: true,
  metadata: { key: `foresail-${label}` },
  original: (value) => value,
});

/** To add a field: an entry here, with a default, and no `original`; a pool's value in `desiredMachines`. */
export const MACHINE_FIELDS: MachineFields<MachineShape> = {
  image: required("image"),
  flavor: required("flavor"),
  rootVolume: {
    label: "root volume",
    metadata: {
      key: "foresail-root-volume",
      write: ({ size, type = "" }) => `${size} ${type}`.trim(),
      read: (text) => {
        const [size, type] = text.split(" ");
        return { size: Number(size), ...(type ? { type } : {}) };
      },
    },
    text: (volume) => (volume ? `${volume.size} GiB ${volume.type ?? ""}`.trim() : "the flavor's disk"),
    original: (volume) => (volume ? [volume.size, volume.type ?? ""] : []),
  },
  zone: {
    label: "zone",
    metadata: { key: "foresail-zone" },
    text: (zone) => zone ?? "any",
    original: (zone) => zone ?? "",
  },
  network: required("network"),
};

/** The fixed properties of one machine, as stored in the metadata of its server. */
export interface MachineRecord<Shape = MachineShape> extends PlannedMachine {
  shape: Shape;
  /** Number of requested replacements. */
  replace: number;
  /** 1, or more after the loss of earlier machines of this shape. */
  incarnation: number;
}

/** A desired machine without the numbers that tell it from earlier machines of its slot. */
export type SlotSpec<Shape = MachineShape> = Omit<
  MachineRecord<Shape>,
  "name" | "incarnation" | "generation"
>;

/**
 * Returns the desired machine of each slot of the pools, control planes first, then in order of pools and indexes.
 *
 * @param network network of new machines
 * @param replace slot → number of requested replacements of its machine
 * @param existing the machines of the state
 * @param stopped whether the server of a machine does not run
 */
export function desiredMachines(
  pools: readonly Pool[],
  network: NetworkKey,
  replace: Readonly<Record<string, number>> = {},
  existing: readonly (PlannedMachine & { joined: boolean })[] = [],
  stopped: (machine: string) => boolean = () => false,
): (SlotSpec & { replacementsPerRun: number })[] {
  const slots = desiredSlots(
    pools,
    ({ replicas }) => replicas,
    replace,
    (pool) => keptSlots(pool, existing, stopped),
  );
  return slots.map(({ name: slot, pool, index, replace }) => {
    const { image, flavor, zones, role } = pool;
    const zone = zones[index % Math.max(zones.length, 1)];
    const { sizeGiB, ...volume } = pool.rootVolume ?? {};
    return {
      slot,
      pool: pool.name,
      role,
      replace,
      shape: {
        image,
        flavor,
        ...(sizeGiB === undefined ? {} : { rootVolume: { size: sizeGiB, ...volume } }),
        ...(zone === undefined ? {} : { zone }),
        network,
      },
      replacementsPerRun: role === "control-plane" ? 1 : pool.replacementsPerRun,
    };
  });
}

/**
 * Returns the name of a machine, its server and its Node: "<slot>-<hash>", with a hash of the machine's properties. So
 * another image results in another machine beside the old one, and the same configuration in the same name.
 *
 * @param incarnation 1, or more after the loss of a machine of this shape, because the next one has an empty disk
 */
export function machineName<Shape extends object>(
  fields: MachineFields<Shape>,
  cluster: string,
  { slot, role, shape, replace }: SlotSpec<Shape>,
  incarnation: number,
): string {
  const { original, later } = hashedValues(fields, shape);
  return `${slot}-${shortHash([cluster, slot, role, ...original, replace, incarnation, ...later])}`;
}

/** Returns the slot of a machine: its name without the hash. */
export function slotOfMachine(machine: string): string {
  return machine.slice(0, machine.lastIndexOf("-"));
}

/** Metadata key of the ready tag: the node agent has reported the machine as ready. InitializedMark writes it. */
export const INITIALIZED_KEY = "foresail-initialized";

/** Metadata key of the owner tag, which distinguishes clusters of the same name in different stacks. */
export const MARK_KEY = "foresail-mark";

/**
 * Returns the metadata of a server. It never changes during the server's lifetime. Nova allows 255 characters per
 * value.
 */
export function metadataOf<Shape extends object>(
  fields: MachineFields<Shape>,
  cluster: string,
  { slot, pool, role, shape, replace, incarnation, generation }: MachineRecord<Shape>,
): Record<string, string> {
  return {
    "foresail-cluster": cluster,
    "foresail-slot": slot,
    "foresail-pool": pool,
    "foresail-role": role,
    ...shapeMetadata(fields, shape),
    "foresail-replace": String(replace),
    "foresail-incarnation": String(incarnation),
    "foresail-generation": String(generation),
  };
}

/** Reads a server's metadata. Returns undefined if the server is not a machine of this cluster. */
export function recordOf<Shape extends object>(
  fields: MachineFields<Shape>,
  cluster: string,
  name: string,
  metadata: Readonly<Record<string, unknown>>,
): MachineRecord<Shape> | undefined {
  const text = (key: string) => {
    const value = metadata[`foresail-${key}`];
    return typeof value === "string" ? value : "";
  };
  const number = (key: string, otherwise: number) => Number(text(key) || otherwise);
  const [slot, pool, role, shape] = [text("slot"), text("pool"), text("role"), readShape(fields, metadata)];
  if (text("cluster") !== cluster || !slot || !pool || !role || !shape) return undefined;
  return {
    name,
    slot,
    pool,
    role: role as Role,
    shape,
    replace: number("replace", 0),
    incarnation: number("incarnation", 1),
    generation: number("generation", 1),
  };
}
