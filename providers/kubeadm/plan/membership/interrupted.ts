import type { MachineFacts, ReadFacts } from "../facts/machine-facts";
import { giveBack, type RecordedMachine } from "../facts/ownership";
import { CONTROL_PLANE_GROUP } from "../cluster/machine";
import type { Self } from "../../../../lib/ownership/owner";

/**
 * Returns the machines of which a group has to find out whether an interrupted run prepared or joined them: they left the
 * configuration, and the state of no group has them.
 *
 * @param former machines that left the configuration, as the ClusterOwner recorded them before anything was done to them
 * @param configured names of all configured machines
 * @param recorded names of machines that groups have in the state
 * @param pools configured worker pools; only for the control planes' group, which has the machines of the other pools
 */
export function mayBeInterrupted(args: {
  group: string;
  former: readonly RecordedMachine[];
  configured: readonly string[];
  recorded: readonly string[];
  pools: Readonly<Record<string, unknown>> | undefined;
}): RecordedMachine[] {
  const { group, former, configured, recorded, pools } = args;
  const isOfGroup = (of: string | undefined) =>
    of === group ||
    (group === CONTROL_PLANE_GROUP && of !== undefined && pools !== undefined && !Object.hasOwn(pools, of));
  return former.filter(
    ({ name, group: of }) => isOfGroup(of) && !configured.includes(name) && !recorded.includes(name),
  );
}

/**
 * Returns the machines that an interrupted run prepared or joined: those that have the stack's mark, and are not members that
 * others made. A machine whose mark can't be read counts as long as its Node is in the cluster, since a removal deletes the
 * Node last.
 *
 * @param facts by name
 * @param hasNode whether a machine's Node is in the cluster
 */
export function interruptedMachines(
  self: Self,
  cluster: string,
  candidates: readonly RecordedMachine[],
  facts: ReadonlyMap<string, ReadFacts>,
  hasNode: (machine: string) => boolean,
): RecordedMachine[] {
  const isAdopted = (found: ReadFacts): boolean => (found as Partial<MachineFacts>).adopted === true;
  return candidates.filter(({ name: machine }) => {
    const found = facts.get(machine);
    if (found === undefined || isAdopted(found)) return false;
    const given = giveBack({ cluster, machine, self }, found);
    return given === "give back" || (typeof given === "object" && "unread" in given && hasNode(machine));
  });
}
