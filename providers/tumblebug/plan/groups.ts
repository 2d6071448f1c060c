import { CONTROL_PLANE_GROUP, type Role, type Taint } from "../../kubeadm/plan/machine";

/** A group of machines with the same configuration. */
export interface MachineGroup {
  name: string;
  role: Role;
  connection: string;
  count: number;
  /** Machine type: the cloud's name. */
  spec: string;
  /** Image: the cloud's name. */
  image: string;
  rootDisk?: { type?: string; gibibytes?: number };
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

/**
 * Returns the desired machines of the groups, control planes first.
 *
 * @param replace slot → number of requested replacements of its machine: {"w-2": 1}
 */
export function wantedSlots(
  groups: readonly MachineGroup[],
  replace: Readonly<Record<string, number>> = {},
): Slot[] {
  const ordered = [
    ...groups.filter(({ role }) => role === "control-plane"),
    ...groups.filter(({ role }) => role === "worker"),
  ];
  return ordered.flatMap(({ name, role, count, connection, spec, image, rootDisk }) =>
    placesOf({ name, count }).map((ref) => {
      const replaced = replace[ref] ?? 0;
      const machine = replaced === 0 ? ref : `${ref}-r${replaced}`;
      return {
        machine,
        group: name,
        role,
        vmGroup: role === "control-plane" ? name : machine,
        connection,
        spec,
        image,
        ...(rootDisk ? { rootDisk } : {}),
      };
    }),
  );
}

/** Returns the slot names of a group: machine names without the replacement number. */
export function placesOf({ name, count }: Pick<MachineGroup, "name" | "count">): string[] {
  return Array.from({ length: count }, (_, index) => `${name}-${index + 1}`);
}

/** Returns the node group of a group's machines. */
export function nodeGroupOf({ name, role }: Pick<MachineGroup, "name" | "role">): string {
  return role === "control-plane" ? CONTROL_PLANE_GROUP : name;
}
