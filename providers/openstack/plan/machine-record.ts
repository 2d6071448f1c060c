import type { Role } from "../../kubeadm/plan/machine";
import { machineName } from "./machine-name";
import type { MachineShape, Slot } from "./pool";

/** The fixed properties of one machine, as stored in the metadata of its server. */
export interface MachineRecord {
  /** Name of the machine, its server and its Node. */
  name: string;
  slot: string;
  pool: string;
  shape: MachineShape;
  /** 1, or more after the loss of earlier machines of this shape. */
  incarnation: number;
  /** Number of the machine in its slot: a younger machine has a higher one. */
  generation: number;
}

/** Keys of the server metadata that foresail writes. Nova allows 255 characters per value. */
const KEYS = {
  cluster: "foresail-cluster",
  slot: "foresail-slot",
  pool: "foresail-pool",
  role: "foresail-role",
  image: "foresail-image",
  flavor: "foresail-flavor",
  rootVolume: "foresail-root-volume",
  zone: "foresail-zone",
  network: "foresail-network",
  replace: "foresail-replace",
  incarnation: "foresail-incarnation",
  generation: "foresail-generation",
} as const;

/** Metadata key of the ready tag: the node agent has reported the machine as ready. InitializedMark writes it. */
export const INITIALIZED_KEY = "foresail-initialized";

/** Returns the record of a new machine with the slot's desired shape. */
export function newMachine(
  cluster: string,
  slot: Slot,
  incarnation: number,
  generation: number,
): MachineRecord {
  const { name, pool, shape } = slot;
  return {
    name: machineName(cluster, name, shape, incarnation),
    slot: name,
    pool,
    shape,
    incarnation,
    generation,
  };
}

/** Metadata key of the owner tag, which distinguishes clusters of the same name in different stacks. */
export const MARK_KEY = "foresail-mark";

/** Returns the metadata of a server. It never changes during the server's lifetime. */
export function metadataOf(cluster: string, machine: MachineRecord): Record<string, string> {
  const { slot, pool, shape, incarnation, generation } = machine;
  const { rootVolume } = shape;
  return {
    [KEYS.cluster]: cluster,
    [KEYS.slot]: slot,
    [KEYS.pool]: pool,
    [KEYS.role]: shape.role,
    [KEYS.image]: shape.image,
    [KEYS.flavor]: shape.flavor,
    ...(rootVolume ? { [KEYS.rootVolume]: [rootVolume.size, rootVolume.type ?? ""].join(" ").trim() } : {}),
    ...(shape.zone === undefined ? {} : { [KEYS.zone]: shape.zone }),
    [KEYS.network]: shape.network,
    [KEYS.replace]: String(shape.replace),
    [KEYS.incarnation]: String(incarnation),
    [KEYS.generation]: String(generation),
  };
}

/** Reads a server's metadata. Returns undefined if the server is not a machine of this cluster. */
export function recordOf(
  cluster: string,
  name: string,
  metadata: Readonly<Record<string, unknown>>,
): MachineRecord | undefined {
  const text = (key: keyof typeof KEYS): string | undefined => {
    const value = metadata[KEYS[key]];
    return typeof value === "string" && value !== "" ? value : undefined;
  };
  const [slot, pool, role, image] = [text("slot"), text("pool"), text("role"), text("image")];
  const [flavor, network] = [text("flavor"), text("network")];
  if (text("cluster") !== cluster || !slot || !pool || !role || !image || !flavor || !network)
    return undefined;
  const [size, type] = text("rootVolume")?.split(" ") ?? [];
  const zone = text("zone");
  return {
    name,
    slot,
    pool,
    shape: {
      role: role as Role,
      image,
      flavor,
      ...(size ? { rootVolume: { size: Number(size), ...(type ? { type } : {}) } } : {}),
      ...(zone ? { zone } : {}),
      network,
      replace: Number(text("replace") ?? 0),
    },
    incarnation: Number(text("incarnation") ?? 1),
    generation: Number(text("generation") ?? 1),
  };
}
