import { CONTROL_PLANE_GROUP } from "../cluster/machine";
import type { ObservedNode } from "./nodes";

/**
 * Returns whether a machine in the state of a group is another group's by now: it is configured there, and its Node has no label of
 * this one. A run that refused it with the other role has recorded it all the same. What may be a control plane has not moved: only
 * their group takes a member out of etcd.
 */
export function hasMoved(args: {
  name: string;
  group: string;
  elsewhere: readonly string[];
  observed: readonly ObservedNode[] | undefined;
}): boolean {
  const { name, group, elsewhere, observed } = args;
  if (observed === undefined || !elsewhere.includes(name)) return false;
  const node = observed.find((each) => each.name === name);
  if (group === CONTROL_PLANE_GROUP && node?.controlPlane !== false) return false;
  return node?.group !== group;
}
