import type { Role } from "../cluster/machine";
import { byIndex } from "../membership/plan";

/** The properties of a machine that its place in a batch depends on. */
export interface PlannedMachine {
  name: string;
  /** Position in a pool, filled by one machine at a time. */
  slot: string;
  pool: string;
  role: Role;
  /** Number of the machine in its slot: a younger machine has a higher one. */
  generation: number;
}

/** A machine that exists. */
export type Existing<Machine> = Machine & {
  /** Whether the machine is recorded as a Node of the cluster. */
  joined: boolean;
  /** Whether a control plane may be a member of etcd. @default `joined` */
  isMember?: boolean;
  /** Whether its removal has begun or its disk is lost, so that it leaves before any other machine. */
  isLeaving?: boolean;
  /** Whether the machine does not run, so that it leaves before others that the configuration no longer has. */
  isStopped?: boolean;
};

/** The desired machine of a slot. */
export interface DesiredSlot<Machine> {
  machine: Machine;
  /** Number of machines of the pool that one run may replace. */
  replacementsPerRun: number;
}

/** The changes of one run to the machines. */
export interface MachineBatch<Machine> {
  /** Machines that exist after the run, in order; all others are deleted. */
  machines: Machine[];
  /** Names of new machines. */
  arriving: string[];
  /** Names of machines that are drained, removed from the cluster and deleted. */
  leaving: string[];
  changes: SlotChange<Machine>[];
}

/** The change of one run to the machines of one slot. */
export interface SlotChange<Machine> {
  slot: string;
  /** The desired machine; absent if the slot is surplus. */
  desired?: Machine;
  /** The machine that the desired one replaces, now or in a later run. */
  former?: Machine;
  /** Whether this run creates the desired machine. */
  isMade: boolean;
  /** Names of machines that leave. */
  leaving: string[];
  /** Names of joined machines other than the desired one. */
  outdated: string[];
  /** Whether the removal began in an earlier run. */
  isBegun?: boolean;
}

/** The batch of this run, and those of the remaining runs if every run succeeds. */
interface MachineRollout<Machine> {
  now: MachineBatch<Machine>;
  later: MachineBatch<Machine>[];
}

/**
 * Plans the runs that change the existing machines into the desired ones. Without batches, the Pulumi engine would
 * create all new servers and then delete all old ones.
 *
 * A run fills empty slots, removes surplus machines and finishes interrupted replacements. If there is nothing of that,
 * it starts replacements: control planes first and one at a time, then pool by pool, at most `replacementsPerRun` per pool.
 * Among the control planes, and among the workers, machines that do not run are replaced before others. A run removes a control plane only if another one that has joined remains.
 *
 * @param desired the slots in order, control planes first
 */
export function planBatches<Machine extends PlannedMachine>(
  desired: readonly DesiredSlot<Machine>[],
  existing: readonly Existing<Machine>[],
): MachineRollout<Machine> {
  const now = planBatch(desired, existing);
  const later: MachineBatch<Machine>[] = [];
  // Each batch creates or deletes at least one machine, so the number of machines limits the number of batches.
  for (let before = afterBatch(now); later.length <= existing.length + desired.length;) {
    const next = planBatch(desired, before);
    if (next.changes.length === 0) break;
    later.push(next);
    before = afterBatch(next);
  }
  return { now, later };
}

/** Returns the names of this run's machines that a later run replaces or removes. */
export function leavingLaterOf({ now, later }: BatchNames): string[] {
  const leaving = new Set(later.flatMap((batch) => batch.leaving));
  return now.machines.map(({ name }) => name).filter((name) => leaving.has(name));
}

interface BatchNames {
  now: { machines: readonly { name: string }[] };
  later: readonly { leaving: readonly string[] }[];
}

function afterBatch<Machine>({ machines }: MachineBatch<Machine>): Existing<Machine>[] {
  return machines.map((machine) => ({ ...machine, joined: true }));
}

interface SlotState<Machine> extends DesiredSlot<Machine> {
  /** The desired machine, if it exists. */
  present?: Existing<Machine>;
  /** Joined machines other than the desired one, oldest first. */
  outdated: Existing<Machine>[];
  /** Failed machines: other than the desired one, and not Nodes, because they never joined or have left the cluster. */
  failed: Existing<Machine>[];
}

const namesOf = (machines: readonly PlannedMachine[]): string[] => machines.map(({ name }) => name);

const byGeneration = (one: PlannedMachine, other: PlannedMachine) => one.generation - other.generation;

/** Plans the next run. */
function planBatch<Machine extends PlannedMachine>(
  desired: readonly DesiredSlot<Machine>[],
  existing: readonly Existing<Machine>[],
): MachineBatch<Machine> {
  const slots = desired.map((each) => slotState(each, existing));
  const known = new Set(namesOf(existing));
  const isDesired = new Set(desired.map(({ machine }) => machine.slot));
  const surplus = existing
    .filter(({ slot }) => !isDesired.has(slot))
    .sort(
      (one, other) =>
        Number(other.isStopped ?? false) - Number(one.isStopped ?? false) ||
        byIndex(other.slot, one.slot) ||
        byGeneration(one, other),
    );
  const leaving = new Set<string>();
  const arriving = new Set<string>();
  const staying = (machine: PlannedMachine) => !leaving.has(machine.name);
  const joinedPlanes = existing.filter(({ role, joined }) => role === "control-plane" && joined);
  let membersLeave = 0;
  /** Adds a machine to `leaving`, unless its removal has to wait for a later run. */
  const release = (machine: Existing<Machine>): void => {
    const isMember = machine.role === "control-plane" && (machine.isMember ?? machine.joined);
    if (isMember && !machine.isLeaving && (membersLeave > 0 || joinedPlanes.filter(staying).length < 2))
      return;
    if (isMember) membersLeave++;
    leaving.add(machine.name);
  };
  for (const machine of surplus) if (machine.isLeaving) release(machine);

  const empty = slots.filter(({ outdated, present }) => outdated.length === 0 && !present?.joined);
  for (const { machine } of empty) arriving.add(machine.name);
  // No Node depends on a failed machine, so its removal needs no batch limit.
  for (const { failed } of slots) for (const { name } of failed) leaving.add(name);

  const begun = slots.filter(({ outdated, present }) => outdated.length > 0 && present !== undefined);
  const halves = slots.filter(({ outdated, present }) => outdated.length > 1 && present === undefined);
  const spent = new Map<string, number>();
  const spend = ({ machine: { pool }, replacementsPerRun }: DesiredSlot<Machine>): boolean => {
    const used = spent.get(pool) ?? 0;
    if (used >= replacementsPerRun) return false;
    spent.set(pool, used + 1);
    return true;
  };
  const releaseOldest = ({ outdated }: SlotState<Machine>) => outdated.slice(0, 1).forEach(release);
  for (const slot of [...begun, ...halves]) if (spend(slot)) releaseOldest(slot);
  for (const machine of surplus) if (!machine.isLeaving) release(machine);

  if (empty.length + surplus.length + begun.length + halves.length === 0) {
    const rank = ({ machine, outdated }: SlotState<Machine>) =>
      (machine.role === "worker" ? 2 : 0) + (outdated.some(({ isStopped = false }) => isStopped) ? 0 : 1);
    const due = slots
      .filter(({ outdated, present }) => outdated.length > 0 && present === undefined)
      .sort((one, other) => rank(one) - rank(other));
    for (const slot of due) {
      if (slot.machine.pool !== due[0]?.machine.pool || !spend(slot)) continue;
      arriving.add(slot.machine.name);
      releaseOldest(slot);
    }
  }

  const machines = [
    ...slots.flatMap(({ machine, present, outdated }): Machine[] => [
      ...outdated.filter(staying),
      ...(present || arriving.has(machine.name) ? [present ?? machine] : []),
    ]),
    ...[...surplus].reverse().filter(staying),
  ];
  const made = namesOf(machines).filter((name) => !known.has(name));
  const changes = [
    ...slots.map((slot) => slotChange(slot, leaving, made.includes(slot.machine.name))),
    ...surplus.map(({ slot, name, isLeaving: isBegun = false }) => {
      return { slot, isMade: false, outdated: [], isBegun, leaving: leaving.has(name) ? [name] : [] };
    }),
  ].filter((change) => change.isMade || change.leaving.length > 0);
  return { machines, arriving: made, leaving: [...leaving], changes };
}

function slotState<Machine extends PlannedMachine>(
  slot: DesiredSlot<Machine>,
  existing: readonly Existing<Machine>[],
): SlotState<Machine> {
  const { machine } = slot;
  const own = existing.filter((each) => each.slot === machine.slot).sort(byGeneration);
  const others = own.filter(({ name }) => name !== machine.name);
  const present = own.find(({ name }) => name === machine.name);
  return {
    ...slot,
    ...(present ? { present } : {}),
    outdated: others.filter(({ joined }) => joined),
    failed: others.filter(({ joined }) => !joined),
  };
}

function slotChange<Machine extends PlannedMachine>(
  { machine, outdated, failed }: SlotState<Machine>,
  leaving: ReadonlySet<string>,
  isMade: boolean,
): SlotChange<Machine> {
  const former = outdated.at(-1) ?? failed.at(-1);
  return {
    slot: machine.slot,
    desired: machine,
    ...(former ? { former } : {}),
    isMade,
    leaving: namesOf([...failed, ...outdated]).filter((name) => leaving.has(name)),
    outdated: namesOf(outdated),
  };
}
