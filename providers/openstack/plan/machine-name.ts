import { shortHash } from "../../../lib/short-hash";
import type { MachineShape } from "./pool";

/**
 * Returns the name of a machine, its server and its Node: "<slot>-<hash>", with a hash of the machine's shape. So
 * another image results in another machine beside the old one, and the same configuration in the same name.
 *
 * @param incarnation 1, or more after the loss of a machine of this shape, because the next one has an empty disk
 */
export function machineName(cluster: string, slot: string, shape: MachineShape, incarnation = 1): string {
  const { role, image, flavor, rootVolume, zone, network, replace } = shape;
  const volume = rootVolume ? [rootVolume.size, rootVolume.type ?? ""] : [];
  return `${slot}-${shortHash([cluster, slot, role, image, flavor, volume, zone ?? "", network, replace, incarnation])}`;
}

/** Returns the slot of a machine: its name without the hash. */
export function slotOfMachine(machine: string): string {
  return machine.slice(0, machine.lastIndexOf("-"));
}
