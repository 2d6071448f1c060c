import { CONTROL_PLANE_GROUP, type Role, type Taint } from "../../kubeadm/plan/machine";

/** Machines that are alike, as the configuration has them. */
export interface MachineGroup {
  name: string;
  role: Role;
  connection: string;
  count: number;
  /** Machine type, by the cloud's name. */
  spec: string;
  /** Image, by the cloud's name. */
  image: string;
  rootDisk?: { type?: string; gibibytes?: number };
  labels: Record<string, string>;
  taints: Taint[];
}

/** A machine that is to be there. */
export interface Slot {
  /** Name of the machine and of its Node: "w-2"; "w-2-r1" when it was asked to be replaced once. */
  machine: string;
  /** Group of the configuration. */
  group: string;
  role: Role;
  /**
   * Name of the server's VM group: all control planes are in one, for a load balancer has a whole group; a worker has
   * one of its own, so that the group says which machine a VM is, whatever number the server gives it.
   */
  vmGroup: string;
  connection: string;
  spec: string;
  image: string;
  rootDisk?: { type?: string; gibibytes?: number };
}

/**
 * The machines that the groups ask for, control planes first.
 *
 * @param replace place → how often its machine was asked to be replaced: {"w-2": 1}
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

/** The places of a group, whichever machine is in them. */
export function placesOf({ name, count }: Pick<MachineGroup, "name" | "count">): string[] {
  return Array.from({ length: count }, (_, index) => `${name}-${index + 1}`);
}

/** The node group that a machine of a group is in. */
export function nodeGroupOf({ name, role }: Pick<MachineGroup, "name" | "role">): string {
  return role === "control-plane" ? CONTROL_PLANE_GROUP : name;
}
