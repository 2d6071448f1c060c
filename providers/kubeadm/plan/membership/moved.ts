import type { ObservedNode } from "./nodes";

/**
 * Returns whether a machine in the state of a group is another group's by now: it is configured there, and its Node has no label of
 * this one. A run that refused it with the other role has recorded it all the same.
 */
export function hasMoved(args: {
  name: string;
  group: string;
  elsewhere: readonly string[];
  observed: readonly ObservedNode[] | undefined;
}): boolean {
  const { name, group, elsewhere, observed } = args;
  if (observed === undefined || !elsewhere.includes(name)) return false;
  return !observed.some((node) => node.name === name && node.group === group);
}
