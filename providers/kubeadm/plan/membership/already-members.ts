import type { Self } from "../../../../lib/ownership/owner";
import type { MachineFacts, ReadFacts } from "../facts/machine-facts";
import { ownershipOf } from "../facts/ownership";
import type { Machine } from "../cluster/machine";
import type { NodeGroupStep } from "../steps";
import type { ObservedNode } from "./nodes";
import { otherRole } from "./other-role";

/**
 * Returns the machines to join that may be members already: their Nodes were deleted by hand, or have no label of a group,
 * since their joins were interrupted or others removed it.
 *
 * @param recorded names of the machines that the state has
 * @param adopted names of members of an adopted cluster, whose Nodes need no label
 * @param observed undefined if the Nodes could not be read
 */
export function mayBeMember(args: {
  desired: readonly Machine[];
  recorded: readonly string[];
  adopted?: readonly string[] | undefined;
  observed: readonly ObservedNode[] | undefined;
}): Machine[] {
  const { desired, recorded, adopted = [], observed } = args;
  if (observed === undefined) return [];
  const nodes = new Map(observed.map((node) => [node.name, node]));
  return desired.filter(({ name }) => {
    const node = nodes.get(name);
    if (node === undefined) return recorded.includes(name);
    return node.group === undefined && !adopted.includes(name);
  });
}

/** Returns the names of the machines that say that they are members of this stack's cluster. */
export function alreadyMembers(self: Self, cluster: string, facts: ReadonlyMap<string, ReadFacts>): string[] {
  return [...facts].flatMap(([machine, read]) => {
    if ("unread" in read || read.member !== true) return [];
    const { is } = ownershipOf({ cluster, machine, self }, read);
    return is === "own" || is === "unnamed" ? [machine] : [];
  });
}

/**
 * Returns why a run can't complete these members: an interrupted run joined one as a control plane, which is to be a worker. In
 * the other case, only the run can tell: a machine without the facts of a control plane may be one that could not read them.
 */
export function refuseOtherRole(
  machines: readonly Machine[],
  members: readonly string[],
  facts: ReadonlyMap<string, ReadFacts>,
): string | undefined {
  const isControlPlane = (name: string) => (facts.get(name) as Partial<MachineFacts>).fixed !== undefined;
  const other = machines.find(
    ({ name, role }) => members.includes(name) && role === "worker" && isControlPlane(name),
  );
  return other && otherRole(other);
}

/** Returns what a run does with a member that has no label of a group, or no Node: it does not join again. */
export function memberStep(machine: string, node: ObservedNode | undefined): NodeGroupStep {
  return { kind: node === undefined ? "register" : "complete", machine };
}
