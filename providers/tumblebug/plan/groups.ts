import { CONTROL_PLANE_GROUP, type Role, type Taint } from "../../kubeadm/plan/cluster/machine";
import type { MachineFields } from "../../kubeadm/plan/machines/fields";
import { desiredSlots, keptSlots } from "../../kubeadm/plan/machines/slots";

/** A group of machines with the same configuration. */
export interface MachineGroup {
  name: string;
  role: Role;
  connection: string;
  replicas: number;
  /** Machine type: the cloud's name. */
  spec: string;
  /** Image: the cloud's name. */
  image: string;
  rootVolume?: { sizeGiB?: number; type?: string };
  labels: Record<string, string>;
  taints: Taint[];
}

/** A desired machine. */
export interface Slot {
  /** Name of the machine and of its Node: "w-2", or "w-2-r1" after one requested replacement. */
  machine: string;
  /** Name of the group in the configuration. */
  group: string;
  role: Role;
  /**
   * Name of the server's VM group. All control planes share one, because a load balancer applies to a whole group. Each
   * worker has its own, so that the group identifies the machine whatever number the server gives the VM.
   */
  vmGroup: string;
  connection: string;
  spec: string;
  image: string;
  rootDisk?: { type?: string; gibibytes?: number };
}

/** The properties of a machine that are fixed while it has a VM. */
type MachineShape = Pick<Slot, "connection" | "spec" | "image" | "rootDisk">;

/** Wording of the fields that shape a machine. Its VM contains none of them; the state records the whole slot. */
export const MACHINE_FIELDS: MachineFields<MachineShape> = {
  connection: { label: "connection" },
  spec: { label: "spec" },
  image: { label: "image" },
  rootDisk: {
    label: "root disk",
    text: (disk) =>
      disk === undefined
        ? "the image's"
        : [disk.type, disk.gibibytes && `${disk.gibibytes} GiB`].filter(Boolean).join(" "),
  },
};

/** Returns the machines of the groups with their groups, control planes first. */
export const machineSlots = <Group extends Pick<MachineGroup, "name" | "role" | "replicas">>(
  groups: readonly Group[],
  replace: Readonly<Record<string, number>>,
  namesOf?: (group: Group) => string[],
) =>
  desiredSlots(groups, ({ replicas }) => replicas, replace, namesOf).map(
    ({ name, pool, replace: replaced }) => ({
      machine: replaced === 0 ? name : `${name}-r${replaced}`,
      pool,
    }),
  );

/** Returns the slot of a machine: "w-2" for "w-2-r1". */
export const slotOf = (machine: string): string => machine.replace(/-r\d+$/, "");

/** Returns the slots of recorded machines by their group, which is a pool of the shared plans. */
export const poolSlots = (recorded: readonly Pick<Slot, "machine" | "group">[]) =>
  recorded.map(({ machine, group: pool }) => ({ slot: slotOf(machine), pool }));

/**
 * Returns the desired machines of the groups, control planes first. A group keeps the slots that have machines, and of
 * those first the ones whose VM runs.
 *
 * @param replace slot → number of requested replacements of its machine: {"w-2": 1}
 * @param recorded machines with a VM
 * @param isStopped whether the VM of a machine does not run
 */
export function wantedSlots(
  groups: readonly MachineGroup[],
  replace: Readonly<Record<string, number>> = {},
  recorded: readonly Pick<Slot, "machine" | "group">[] = [],
  isStopped: (machine: string) => boolean = () => false,
): Slot[] {
  const existing = recorded.map(({ machine, group }) => {
    return { name: machine, slot: slotOf(machine), pool: group, joined: true };
  });
  const namesOf = (group: MachineGroup) => keptSlots(group, existing, isStopped);
  return machineSlots(groups, replace, namesOf).map(({ machine, pool }) => {
    const { name: group, role, connection, spec, image, rootVolume } = pool;
    const { sizeGiB: gibibytes, ...disk } = rootVolume ?? {};
    const vmGroup = role === "control-plane" ? group : machine;
    const rootDisk = { ...disk, ...(gibibytes === undefined ? {} : { gibibytes }) };
    return {
      machine,
      group,
      role,
      vmGroup,
      connection,
      spec,
      image,
      ...(rootVolume ? { rootDisk } : {}),
    };
  });
}

export function nodeGroupOf({ name, role }: Pick<MachineGroup, "name" | "role">): string {
  return role === "control-plane" ? CONTROL_PLANE_GROUP : name;
}
