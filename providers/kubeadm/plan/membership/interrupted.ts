import type { MachineFacts, ReadFacts } from "../facts/machine-facts";
import { giveBack, type RecordedMachine } from "../facts/ownership";
import { CONTROL_PLANE_GROUP } from "../machine";
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
 * Returns the machines that an interrupted run prepared or joined: those that bear the stack's mark, and are no members that
 * others made.
 *
 * @param facts by name
 */
export function interruptedMachines(
  self: Self,
  cluster: string,
  candidates: readonly RecordedMachine[],
  facts: ReadonlyMap<string, ReadFacts>,
): RecordedMachine[] {
  const isAdopted = (found: ReadFacts): boolean => (found as Partial<MachineFacts>).adopted === true;
  return candidates.filter(({ name: machine }) => {
    const found = facts.get(machine);
    return (
      found !== undefined && !isAdopted(found) && giveBack({ cluster, machine, self }, found) === "give back"
    );
  });
}
