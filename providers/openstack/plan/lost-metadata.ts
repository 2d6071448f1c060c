import type { Role } from "../../kubeadm/plan/cluster/machine";
import {
  INITIALIZED_KEY,
  MACHINE_FIELDS,
  MARK_KEY,
  machineName,
  metadataOf,
  slotOfMachine,
  type MachineRecord,
  type MachineShape,
  type NetworkKey,
} from "./machine";

type Metadata = Readonly<Record<string, string>>;

/** A server whose metadata someone changed in the cloud, with what it is to have. */
export interface ChangedMetadata {
  machine: string;
  /** Id of its server. */
  server: string;
  metadata: Metadata;
}

/** More replacements and losses of one slot are not looked for. */
const MOST_REPLACEMENTS = 20;
const MOST_INCARNATIONS = 20;

/**
 * Returns the machine of a server whose metadata no longer says it, from what the last plan recorded. The name contains
 * a hash of the machine's properties, so a machine that was found is the right one.
 *
 * @param found the metadata that is left
 * @param servers what the last plan recorded of all servers: without network, role and numbers
 * @param networks the networks that the machines of the state may have
 */
export function rememberedMachine(
  cluster: string,
  name: string,
  found: Readonly<Record<string, unknown>>,
  servers: unknown,
  networks: readonly NetworkKey[],
): MachineRecord | undefined {
  const known = (Array.isArray(servers) ? servers : []) as readonly Partial<
    MachineShape & { name: string; pool: string }
  >[];
  const { pool, image, flavor, rootVolume, zone } = known.find((server) => server.name === name) ?? {};
  if (pool === undefined || image === undefined || flavor === undefined) return undefined;
  const slot = slotOfMachine(name);
  for (const network of networks)
    for (const role of ["worker", "control-plane"] satisfies Role[])
      for (let replace = 0; replace < MOST_REPLACEMENTS; replace++)
        for (let incarnation = 1; incarnation <= MOST_INCARNATIONS; incarnation++) {
          const shape = {
            image,
            flavor,
            network,
            ...(rootVolume ? { rootVolume } : {}),
            ...(zone ? { zone } : {}),
          };
          const spec = { slot, pool, role, shape, replace };
          if (machineName(MACHINE_FIELDS, cluster, spec, incarnation) === name)
            return { ...spec, name, incarnation, generation: Number(found["foresail-generation"]) || 1 };
        }
  return undefined;
}

/** Whether a machine has the properties by which it got its name. */
export const hasItsName = (cluster: string, machine: MachineRecord): boolean =>
  machineName(MACHINE_FIELDS, cluster, machine, machine.incarnation) === machine.name;

/** Keys that a server of an earlier release may not have, with the value that their absence means. */
const DEFAULTS: Metadata = {
  "foresail-replace": "0",
  "foresail-incarnation": "1",
  "foresail-generation": "1",
};

/**
 * Returns the metadata that each machine's server is to have.
 *
 * @param marked machine → id of the server that has got the ready tag
 */
export function desiredMetadata(
  cluster: string,
  machines: readonly MachineRecord[],
  serverIds: Readonly<Record<string, string>>,
  mark: string | undefined,
  marked: Readonly<Record<string, unknown>>,
): ChangedMetadata[] {
  return machines.flatMap((machine) => {
    const server = serverIds[machine.name];
    if (server === undefined) return [];
    const metadata = {
      ...metadataOf(MACHINE_FIELDS, cluster, machine),
      ...(mark === undefined ? {} : { [MARK_KEY]: mark }),
      ...(marked[machine.name] === server ? { [INITIALIZED_KEY]: "true" } : {}),
    };
    return [{ machine: machine.name, server, metadata }];
  });
}

/**
 * Returns which keys the cloud has lost or has with another value, with the desired ones.
 *
 * @param found machine → metadata of its server in the cloud; undefined if there is no server
 */
export function changedMetadata(
  desired: readonly ChangedMetadata[],
  found: Readonly<Record<string, Metadata | undefined>>,
): ChangedMetadata[] {
  return desired.flatMap(({ machine, server, metadata }) => {
    const own = found[machine];
    if (own === undefined) return [];
    const changed = Object.entries(metadata).filter(([key, value]) => (own[key] ?? DEFAULTS[key]) !== value);
    return changed.length === 0 ? [] : [{ machine, server, metadata: Object.fromEntries(changed) }];
  });
}
