import { factKey } from "../plan/requirements";
import type { Slot } from "../plan/groups";
import type { DesiredVmGroup } from "../plan/model";
import type { MachineVm } from "../plan/machine-vm";
import type { ServerInputs } from "./server";

/** The server's names of the objects that a connection's VMs are created from. */
export interface ConnectionObjects {
  vNet: string;
  subnet: string;
  /** Security group of all machines. */
  nodes: string;
  /** Additional security group of control planes; absent if there are none. */
  controlPlanes?: string;
  sshKey: string;
}

/** Inputs of TumblebugMcis. */
export interface McisInputs {
  server: ServerInputs;
  namespace: string;
  infrastructure: string;
  mark: string;
  /** Desired machines. A change creates VMs of new machines; TumblebugVm deletes VMs of surplus machines. */
  slots: Slot[];
  /** Connection → objects that its VMs are created from. */
  objects: Record<string, ConnectionObjects>;
  /** "<connection> <spec>" → the server's name of the spec. */
  specs: Record<string, string>;
  /** "<connection> <image>" → the server's name of the image. */
  images: Record<string, string>;
  user: string;
  /** Deadline for VMs to start, in seconds. */
  timeoutSeconds: number;
  /** Recorded machines, and machines that are being removed; used by check only. */
  recorded?: Recorded;
  /** Set by check. */
  steps?: string[];
  /** Set by check: unchanged machines. */
  known?: Record<string, MachineVm>;
  /** Set by check: machine → VM of machines that are being removed. */
  leaving?: Record<string, string>;
}

/** Recorded machines at the start of a run. */
export interface Recorded {
  vms: Record<string, MachineVm>;
  /** Machine → VM of machines that are being removed. */
  leaving: Record<string, string>;
}

export interface McisOutputs extends McisInputs {
  vms: Record<string, MachineVm>;
  leaving: Record<string, string>;
  /** Failure of the last run, for the cluster's phase. */
  failure?: { reason: string; message: string };
}

export const mcisName = ({ infrastructure }: McisInputs): string => `MCIS ${infrastructure}`;

/** Returns the desired VM groups of machines; machines with the same group share one. */
export function desiredGroups(inputs: McisInputs, slots: readonly Slot[]): DesiredVmGroup[] {
  const groups = new Map<string, Slot[]>();
  for (const slot of slots) groups.set(slot.vmGroup, [...(groups.get(slot.vmGroup) ?? []), slot]);
  return [...groups].map(([name, [first, ...others]]) =>
    desiredGroup(inputs, name, first as Slot, others.length + 1),
  );
}

function desiredGroup(inputs: McisInputs, name: string, slot: Slot, size: number): DesiredVmGroup {
  const { connection, spec, image, role, rootDisk } = slot;
  const objects = inputs.objects[connection];
  if (!objects) throw new Error(`the connection ${connection} of ${slot.machine} has no VNet`);
  const { vNet, subnet, nodes, controlPlanes, sshKey } = objects;
  return {
    name,
    size,
    connection,
    spec: inputs.specs[factKey(connection, spec)] ?? spec,
    image: inputs.images[factKey(connection, image)] ?? image,
    vNet,
    subnet,
    securityGroups:
      role === "control-plane" && controlPlanes !== undefined ? [nodes, controlPlanes] : [nodes],
    sshKey,
    user: inputs.user,
    ...(rootDisk ? { rootDisk } : {}),
  };
}
