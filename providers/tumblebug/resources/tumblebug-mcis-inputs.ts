import { factKey } from "../plan/requirements";
import type { Slot } from "../plan/groups";
import type { DesiredVmGroup } from "../plan/model";
import type { MachineVm } from "../plan/machine-vm";
import type { ServerInputs } from "./server";
import type { ConnectionObjects } from "./tumblebug-mcis";

/** Inputs of TumblebugMcis in its handlers. */
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
  /** Recorded machines, used by check only. */
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
