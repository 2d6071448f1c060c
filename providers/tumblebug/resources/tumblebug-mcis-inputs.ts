import { factKey } from "../plan/requirements";
import type { Slot } from "../plan/groups";
import type { DesiredVmGroup } from "../plan/model";
import type { MachineVm } from "../plan/machine-vm";
import type { ServerInputs } from "./server";
import type { ConnectionObjects } from "./tumblebug-mcis";

/** A TumblebugMcis' inputs as its handlers get them. */
export interface McisInputs {
  server: ServerInputs;
  namespace: string;
  infrastructure: string;
  mark: string;
  slots: Slot[];
  objects: Record<string, ConnectionObjects>;
  specs: Record<string, string>;
  images: Record<string, string>;
  user: string;
  timeoutSeconds: number;
  /** What the state has, for check alone. */
  recorded?: Recorded;
  /** Made by check. */
  steps?: string[];
  /** Made by check: the machines that stay as they are. */
  known?: Record<string, MachineVm>;
  /** Made by check: machine → VM of those that are to go. */
  leaving?: Record<string, string>;
}

/** What is recorded of the machines as a run begins. */
export interface Recorded {
  vms: Record<string, MachineVm>;
  /** Machine → VM of those that are to go. */
  leaving: Record<string, string>;
}

export interface McisOutputs extends McisInputs {
  vms: Record<string, MachineVm>;
  leaving: Record<string, string>;
  /** Why the last run failed, for the phase of the cluster. */
  failure?: { reason: string; message: string };
}

export const mcisName = ({ infrastructure }: McisInputs): string => `MCIS ${infrastructure}`;

/** The VM groups that machines need, one for those that share it. */
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
