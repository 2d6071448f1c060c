import type { Self } from "../../../../lib/ownership/owner";
import type { MachineFacts, ReadFacts } from "../facts/machine-facts";
import { ownershipOf } from "../facts/ownership";
import type { Machine } from "../cluster/machine";
import type { NodeGroupStep } from "../steps";
import type { ObservedNode } from "./nodes";
import { otherRole } from "./other-role";
import { listed } from "../../../../lib/text/quote";

/**
 * Returns the machines to join that may be members already: they have no Node, since someone deleted it or they were given up,
 * or one without the label of a group, since their joins were interrupted or others removed it.
 *
 * @param adopted names of members of an adopted cluster, whose Nodes need no label
 * @param observed undefined if the Nodes could not be read
 */
export function mayBeMember(args: {
  desired: readonly Machine[];
  adopted?: readonly string[] | undefined;
  observed: readonly ObservedNode[] | undefined;
}): Machine[] {
  const { desired, adopted = [], observed } = args;
  if (observed === undefined) return [];
  const nodes = new Map(observed.map((node) => [node.name, node]));
  return desired.filter(({ name }) => {
    const node = nodes.get(name);
    return node === undefined || (node.group === undefined && !adopted.includes(name));
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

/**
 * Returns why a run can't join machines on which nothing is prepared: they were reinstalled, and their Nodes deleted. What is new
 * to the state, and what gets another `bootstrapRevision`, is prepared first.
 *
 * @param recorded names of the machines that the state has
 */
export function refuseUnprepared(
  facts: ReadonlyMap<string, ReadFacts>,
  recorded: readonly string[],
  { before, now }: { before?: string | undefined; now?: string | undefined },
): string | undefined {
  if (before !== now) return undefined;
  const names = [...facts].flatMap(([name, read]) =>
    recorded.includes(name) && "mark" in read && read.mark === "none" ? [name] : [],
  );
  if (names.length === 0) return undefined;
  return (
    `${listed(names)}: nothing is prepared on ${names.length > 1 ? "these machines, which were" : "this machine, which was"} reinstalled or reset since; ` +
    "take it out of the configuration, run `up`, then add it again"
  );
}

/**
 * Returns what a run does with a member that has no label of a group, or no Node.
 *
 * @param isRecorded whether the state has it
 */
export function memberStep(
  { group, name: machine, role }: Machine,
  node: ObservedNode | undefined,
  isRecorded: boolean,
): NodeGroupStep {
  if (node !== undefined) return { kind: "complete", machine };
  if (isRecorded) return { kind: "register", machine };
  if (role === "control-plane") return { kind: "rejoinControlPlane", machine };
  return { kind: "rejoin", machine, pool: group };
}
