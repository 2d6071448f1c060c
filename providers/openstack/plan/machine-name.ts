import { shortHash } from "../../../lib/short-hash";
import type { MachineShape } from "./pool";

/**
 * The name of a machine, its server and its Node: "<slot>-<hash>", the hash over what makes the machine different. So
 * another image is another machine, beside the old one, and the same wish is the same name in every run.
 *
 * @param incarnation 1; more when a machine of this shape was lost to the cloud, since the next one has an empty disk
 */
export function machineName(cluster: string, slot: string, shape: MachineShape, incarnation = 1): string {
  const { role, image, flavor, rootVolume, zone, network, replace } = shape;
  const volume = rootVolume ? [rootVolume.size, rootVolume.type ?? ""] : [];
  return `${slot}-${shortHash([cluster, slot, role, image, flavor, volume, zone ?? "", network, replace, incarnation])}`;
}

/** The slot that a machine's name begins with. */
export function slotOfMachine(machine: string): string {
  return machine.slice(0, machine.lastIndexOf("-"));
}
