import {
  decideOwnership,
  describeOwner,
  foreignOwner,
  type Owner,
  type Self,
  UNMARKED,
} from "../../../../lib/ownership/owner";
import { isKnown } from "../../../../lib/unknown";
import { CONTROL_PLANE_GROUP, type Machine } from "../cluster/machine";
import { otherRole } from "../membership/other-role";
import type { ClusterOwnerStep } from "../steps";
import type { ReadFacts } from "./machine-facts";
import type { MachineMark } from "./machine-mark";

/** How a stack's state remembers a machine. */
export interface RecordedMachine extends Pick<Machine, "name" | "address" | "port" | "user" | "hostKey"> {
  /** Its node group, for a machine that leaves. */
  readonly group?: string;
}

/** Path of the field by which a stack takes over. */
export const TAKE_OVER_FIELD = "cluster.takeOver";

/** Whose a machine is, from what it said about itself. */
export type MachineOwnership =
  /** It has no mark. */
  | { readonly is: "free" }
  /** It has the mark of this machine of this cluster, and of this stack. */
  | { readonly is: "own" }
  /** The same of an earlier release, which did not record the stack. */
  | { readonly is: "unnamed" }
  /** The former owner's; undefined for an earlier release's mark. */
  | { readonly is: "takeOver"; readonly from?: Owner }
  | { readonly is: "refused"; readonly reason: string }
  | { readonly is: "unread"; readonly why: string };

/** The machine and the stack that asks. */
interface Asked {
  readonly cluster: string;
  readonly machine: string;
  readonly self: Self;
}

/** Returns whose a machine is. */
export function ownershipOf({ cluster, machine, self }: Asked, facts: ReadFacts): MachineOwnership {
  if ("unread" in facts) return { is: "unread", why: facts.unread };
  const { mark } = facts;
  if (mark === "none") return { is: "free" };
  if ("damaged" in mark)
    return {
      is: "refused",
      reason: `${machine}: its mark /etc/foresail/machine is damaged (${mark.damaged}), so that nothing says whose machine it is; write what belongs there, or remove the file if nothing on the machine is needed`,
    };
  const found = decideOwnership(mark.owner, self);
  if (found.is === "foreign")
    return {
      is: "refused",
      reason: foreignOwner(named(cluster, machine, mark), found.owner, self, TAKE_OVER_FIELD),
    };
  if (mark.cluster !== cluster || mark.machine !== machine)
    return { is: "refused", reason: otherName({ cluster, machine, self }, mark) };
  if (found.is === "takeOver") return { is: "takeOver", from: found.from };
  if (found.is === "unmarked") return self.takeOver === UNMARKED ? { is: "takeOver" } : { is: "unnamed" };
  return { is: "own" };
}

/** Returns the machine with its names in the mark, if they differ. */
const named = (cluster: string, machine: string, mark: MachineMark): string =>
  mark.machine === machine && mark.cluster === cluster
    ? machine
    : `${machine}, which is ${mark.machine} of the cluster ${mark.cluster},`;

function otherName({ cluster, machine }: Asked, mark: MachineMark): string {
  const whose = mark.owner ? "of this stack" : "that an earlier release of foresail marked";
  if (mark.cluster !== cluster)
    return (
      `${machine} is the machine ${mark.machine} of the cluster ${mark.cluster} ${whose}; a cluster can't be renamed, since its machines and certificates have its name: ` +
      `write cluster.name: ${mark.cluster}, or destroy that cluster first`
    );
  return (
    `${machine} is the machine ${mark.machine} ${whose}; a machine can't be renamed, since its Node has its name: ` +
    `write name: ${mark.machine}, or take ${mark.machine} out of the configuration, run \`up\`, then add it as ${machine}`
  );
}

/** Returns the sentence that refuses the mark of an earlier release on a machine that the stack does not have. */
export const unnamedOwner = (machine: string): string =>
  `${machine}: an earlier release of foresail marked this machine for a cluster of this name, which did not record the stack, and this stack does not have it in its state; ` +
  `nothing of it was changed. Destroy or release it with the stack that has it, or, to take it over, write ${TAKE_OVER_FIELD}: ${UNMARKED}`;

const placeOf = ({ address, port }: Pick<Machine, "address" | "port">): string | undefined =>
  isKnown([address, port]) ? `${address}:${port}` : undefined;

/** Returns whether the state has a machine as it is configured, so that it need not be read. */
export function isRecorded(recorded: readonly RecordedMachine[], machine: RecordedMachine): boolean {
  const place = placeOf(machine);
  return recorded.some(({ name, ...before }) => name === machine.name && placeOf(before) === place);
}

/** Tells whether a recorded machine is a control plane, as those are that the state has without a group. */
export const isControlPlane = ({ group = CONTROL_PLANE_GROUP }: Pick<RecordedMachine, "group">): boolean =>
  group === CONTROL_PLANE_GROUP;

/** Returns whether the state has a machine as a control plane that is configured as a worker. */
export function becomesWorker(recorded: readonly RecordedMachine[], machine: RecordedMachine): boolean {
  return (
    recorded.some((each) => each.name === machine.name && isControlPlane(each)) && !isControlPlane(machine)
  );
}

/**
 * Returns why a machine that could not be read is refused all the same: the state has another machine at its address.
 */
function atOtherAddress(recorded: readonly RecordedMachine[], machine: RecordedMachine): string | undefined {
  const place = placeOf(machine);
  const other = recorded.find((each) => each.name !== machine.name && placeOf(each) === place);
  if (place === undefined || other === undefined) return undefined;
  return (
    `${machine.name} has the address of the machine ${other.name} (${place}); a machine can't be renamed, since its Node has its name: ` +
    `write name: ${other.name}, or take ${other.name} out of the configuration, run \`up\`, then add it as ${machine.name}`
  );
}

/** What a check of a cluster's machines found. */
export interface MachinesDecision {
  readonly failures: { readonly property: string; readonly reason: string }[];
  readonly steps: ClusterOwnerStep[];
  /** Names of the machines with a mark of an earlier release. */
  readonly unnamed: string[];
}

/**
 * Decides whether a stack may have these machines, before anything is written or recorded.
 *
 * @param machines those of the configuration
 * @param facts of those that were read, by name
 * @param recorded machines in the state; undefined where the addresses are those of servers, which the stack makes itself
 * @param isNew whether the state has no machines yet: then only the ClusterInit knows whose an earlier release's marks are
 */
export function decideMachines(
  self: Self,
  args: {
    cluster: string;
    machines: readonly RecordedMachine[];
    facts: ReadonlyMap<string, ReadFacts>;
    recorded?: readonly RecordedMachine[] | undefined;
    isNew: boolean;
  },
): MachinesDecision {
  const { cluster, machines, facts, recorded = [], isNew } = args;
  const decision: MachinesDecision = { failures: [], steps: [], unnamed: [] };
  const seen = new Map<string, string>();
  for (const [index, machine] of machines.entries()) {
    const { name } = machine;
    const refuse = (reason: string) =>
      decision.failures.push({ property: `cluster.machines[${index}]`, reason });
    const found = facts.get(name);
    if (found === undefined) continue;
    const twin = "identity" in found && found.identity !== "" ? seen.get(found.identity) : undefined;
    if ("identity" in found && found.identity !== "") seen.set(found.identity, name);
    const owned = ownershipOf({ cluster, machine: name, self }, found);
    switch (owned.is) {
      case "refused":
        refuse(owned.reason);
        break;
      case "takeOver": {
        const from = owned.from ? describeOwner(owned.from) : "an earlier release's mark";
        decision.steps.push({ kind: "takeOver", machine: name, from });
        break;
      }
      case "unnamed":
        if (!isNew && !recorded.some((each) => each.name === name)) refuse(unnamedOwner(name));
        else decision.unnamed.push(name);
        break;
      case "unread": {
        const reason = atOtherAddress(recorded, machine);
        if (reason !== undefined) refuse(reason);
        else
          decision.steps.push({ kind: "unread", machine: name, what: `whose machine it is: ${owned.why}` });
        break;
      }
      case "own":
      case "free":
        break;
    }
    const other =
      !isControlPlane(machine) && ["own", "unnamed", "takeOver"].includes(owned.is) && otherRoleOf(found);
    if (other) refuse(otherRole({ name, role: "worker" }, other));
    if (twin !== undefined) refuse(`${name} and ${twin} are the same machine; list it once`);
  }
  return decision;
}

/** Returns what an interrupted run did to a machine as a control plane: etcd may have it as a member, and no worker leaves etcd. */
function otherRoleOf(found: ReadFacts): "joined" | "began to join" | undefined {
  if ("unread" in found) return undefined;
  if (found.member === true && found.fixed !== undefined) return "joined";
  return found.begunControlPlane === true ? "began to join" : undefined;
}

/**
 * Returns the machines that left the configuration and whose marks were not seen gone.
 *
 * @param before those of the state, and the former ones in it
 * @param lost names of dead machines
 * @param facts of former machines that were read, by name
 */
export function formerOf(
  before: { machines?: readonly RecordedMachine[]; former?: readonly RecordedMachine[] },
  machines: readonly { readonly name: string }[],
  { lost, facts }: { lost: readonly string[]; facts: ReadonlyMap<string, ReadFacts> },
): RecordedMachine[] {
  const all = new Map(
    [...(before.former ?? []), ...(before.machines ?? [])].map((each) => [each.name, each]),
  );
  for (const { name } of machines) all.delete(name);
  for (const name of lost) all.delete(name);
  return [...all.values()].filter(({ name }) => {
    const found = facts.get(name);
    return found === undefined || "unread" in found || found.mark !== "none";
  });
}

/** What a deleted owner does with a machine that the state recorded. */
export type GiveBack = "nothing" | "give back" | { readonly foreign: string } | { readonly unread: string };

/** Returns what to do with a recorded machine: only one that has this stack's mark is given back. */
export function giveBack(asked: Asked, facts: ReadFacts): GiveBack {
  const owned = ownershipOf(asked, facts);
  if (owned.is === "unread") return { unread: owned.why };
  if (owned.is === "refused") return { foreign: owned.reason };
  return owned.is === "own" ? "give back" : "nothing";
}
