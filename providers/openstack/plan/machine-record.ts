import type { Role } from "../../kubeadm/plan/machine";
import { machineName } from "./machine-name";
import type { MachineShape, Slot } from "./pool";

/** What foresail knows of one machine without asking anybody; it stands in the metadata of its server. */
export interface MachineRecord {
  /** Name of the machine, its server and its Node. */
  name: string;
  slot: string;
  pool: string;
  shape: MachineShape;
  /** 1; more when a machine of this shape was lost to the cloud before it. */
  incarnation: number;
  /** Counts the machines of a slot: of two, the higher one is the younger. */
  generation: number;
}

/** The keys that foresail writes to a server's metadata; Nova takes 255 characters a value. */
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

/** The metadata that says that a machine's node agent has found it ready; InitializedMark writes it. */
export const INITIALIZED_KEY = "foresail-initialized";

/** A machine of a slot's wish that is made in this run. */
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

/** The metadata that tells the servers of a stack's cluster from those of any other cluster of that name. */
export const MARK_KEY = "foresail-mark";

/** The metadata of a server; it never changes while the server lives. */
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

/** Reads a server's metadata; undefined when it is none of this cluster's machines. */
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
