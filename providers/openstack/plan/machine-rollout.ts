import { byIndex } from "../../kubeadm/plan/membership/plan";
import type { MachineRecord } from "./machine-record";
import type { ExistingMachine } from "./recorded-state";

/** The desired machine of a slot. */
export interface WantedMachine {
  machine: MachineRecord;
  maxSurge: number;
}

/** The changes of one run to the machines. */
export interface MachineBatch {
  /** Machines that exist after the run, in order; all others are deleted. */
  machines: MachineRecord[];
  /** Names of new machines. */
  arriving: string[];
  /** Names of machines that are drained, removed from the cluster and deleted. */
  leaving: string[];
  /** The changes as text, one line per machine. */
  lines: string[];
}

export interface MachineRollout {
  /** The batch of this run. */
  now: MachineBatch;
  /** The batches of the remaining runs, if every run succeeds. */
  later: MachineBatch[];
}

/**
 * Plans the runs that change the existing machines into the desired ones. Without batches, the Pulumi engine would
 * create all new servers and then delete all old ones.
 *
 * A run fills empty slots, removes surplus machines and finishes interrupted replacements. If there is nothing of that,
 * it starts replacements: control planes first and one at a time, then pool by pool, at most `maxSurge` per pool. A run
 * removes a control plane only if another one that has joined remains.
 *
 * @param wanted the slots in order, control planes first
 */
export function planRollout(
  wanted: readonly WantedMachine[],
  existing: readonly ExistingMachine[],
): MachineRollout {
  const now = planBatch(wanted, existing);
  const later: MachineBatch[] = [];
  // Each batch creates or deletes at least one machine, so the number of machines limits the number of batches.
  for (let before = afterBatch(now); later.length <= existing.length + wanted.length;) {
    const next = planBatch(wanted, before);
    if (next.lines.length === 0) break;
    later.push(next);
    before = afterBatch(next);
  }
  return { now, later };
}

function afterBatch({ machines }: MachineBatch): ExistingMachine[] {
  return machines.map((machine) => ({ ...machine, joined: true }));
}

interface SlotState {
  wanted: WantedMachine;
  /** The desired machine, if it exists. */
  present?: ExistingMachine;
  /** Joined machines other than the desired one, oldest first. */
  outdated: ExistingMachine[];
  /** Failed machines: other than the desired one, and not Nodes, because they never joined or have left the cluster. */
  stillborn: ExistingMachine[];
}

const isControlPlane = ({ shape }: MachineRecord): boolean => shape.role === "control-plane";

/** Plans the next run. */
function planBatch(wanted: readonly WantedMachine[], existing: readonly ExistingMachine[]): MachineBatch {
  const slots = wanted.map((each) => slotState(each, existing));
  const names = new Set(wanted.map(({ machine }) => machine.slot));
  const surplus = existing
    .filter(({ slot }) => !names.has(slot))
    .sort((one, other) => byIndex(other.slot, one.slot) || one.generation - other.generation);
  const leaving = new Set<string>();
  const arriving = new Set<string>();
  const joinedStays = (machine: ExistingMachine) =>
    existing.some(
      (other) => other !== machine && isControlPlane(other) && other.joined && !leaving.has(other.name),
    );
  let controlPlanes = 0;
  /** Adds a machine to `leaving`. Returns false if its removal has to wait for a later run. */
  const release = (machine: ExistingMachine): boolean => {
    if (isControlPlane(machine) && machine.joined) {
      if (controlPlanes > 0 || !joinedStays(machine)) return false;
      controlPlanes++;
    }
    leaving.add(machine.name);
    return true;
  };

  const empty = slots.filter(({ outdated, present }) => outdated.length === 0 && !present?.joined);
  for (const { wanted: each } of empty) arriving.add(each.machine.name);
  // No Node depends on a failed machine, so its removal needs no batch limit.
  for (const { stillborn: failed } of slots) for (const machine of failed) leaving.add(machine.name);

  const begun = slots.filter(({ outdated, present }) => outdated.length > 0 && present !== undefined);
  const halves = slots.filter(({ outdated, present }) => outdated.length > 1 && present === undefined);
  const spent = new Map<string, number>();
  const spend = ({ machine, maxSurge }: WantedMachine): boolean => {
    const used = spent.get(machine.pool) ?? 0;
    if (used >= maxSurge) return false;
    spent.set(machine.pool, used + 1);
    return true;
  };
  for (const { wanted: each, outdated } of [...begun, ...halves])
    if (spend(each)) release(outdated[0] as ExistingMachine);
  for (const machine of surplus) release(machine);

  const isScaling = empty.length > 0 || surplus.length > 0;
  const isFinishing = begun.length > 0 || halves.length > 0;
  if (!isScaling && !isFinishing) {
    const due = slots.filter(({ outdated, present }) => outdated.length > 0 && present === undefined);
    const first = due[0]?.wanted.machine.pool;
    for (const { wanted: each, outdated } of due.filter(
      ({ wanted: { machine } }) => machine.pool === first,
    )) {
      if (!spend(each)) continue;
      arriving.add(each.machine.name);
      release(outdated[0] as ExistingMachine);
    }
  }

  const staying = (machine: ExistingMachine) => !leaving.has(machine.name);
  const machines = [
    ...slots.flatMap(({ wanted: each, present, outdated }): MachineRecord[] => [
      ...outdated.filter(staying),
      ...(present || arriving.has(each.machine.name) ? [present ?? each.machine] : []),
    ]),
    ...[...surplus].reverse().filter(staying),
  ];
  const known = new Set(existing.map(({ name }) => name));
  const made = machines.filter(({ name }) => !known.has(name));
  return {
    machines,
    arriving: made.map(({ name }) => name),
    leaving: [...leaving],
    lines: linesOf(slots, surplus, leaving, new Set(made.map(({ name }) => name))),
  };
}

function slotState(wanted: WantedMachine, existing: readonly ExistingMachine[]): SlotState {
  const own = existing
    .filter(({ slot }) => slot === wanted.machine.slot)
    .sort((one, other) => one.generation - other.generation);
  const others = own.filter(({ name }) => name !== wanted.machine.name);
  const present = own.find(({ name }) => name === wanted.machine.name);
  return {
    wanted,
    ...(present ? { present } : {}),
    outdated: others.filter(({ joined }) => joined),
    stillborn: others.filter(({ joined }) => !joined),
  };
}

function linesOf(
  slots: readonly SlotState[],
  surplus: readonly ExistingMachine[],
  leaving: ReadonlySet<string>,
  made: ReadonlySet<string>,
): string[] {
  const lines = slots.flatMap(({ wanted: { machine }, outdated, stillborn: failed }) => {
    const goes = [...failed, ...outdated].filter(({ name }) => leaving.has(name));
    const why = changeOf(outdated.at(-1) ?? failed.at(-1), machine);
    if (made.has(machine.name) && goes.length === 0)
      return [
        `${machine.slot}: ${machine.name} is made${outdated.length > 0 ? ` beside ${outdated.map(({ name }) => name).join(", ")}` : ""}${why}`,
      ];
    if (goes.length === 0) return [];
    const names = goes.map(({ name }) => name).join(", ");
    return [
      made.has(machine.name)
        ? `${machine.slot}: ${machine.name} is made and joins, then ${names} is drained and deleted${why}`
        : `${machine.slot}: ${names} is drained and deleted${why}`,
    ];
  });
  const gone = surplus
    .filter(({ name }) => leaving.has(name))
    .map(({ slot, name }) => `${slot}: ${name} is drained and deleted, it is no longer wanted`);
  return [...lines, ...gone];
}

/** Returns the differences between two machines of a slot as text: " (flavour a → b)". */
function changeOf(before: MachineRecord | undefined, after: MachineRecord): string {
  if (before === undefined) return "";
  const volume = ({ shape: { rootVolume } }: MachineRecord) =>
    rootVolume ? [`${rootVolume.size} GiB`, rootVolume.type].filter(Boolean).join(" ") : "the flavour's disk";
  const fields: [string, string, string][] = [
    ["image", before.shape.image, after.shape.image],
    ["flavour", before.shape.flavor, after.shape.flavor],
    ["root volume", volume(before), volume(after)],
    ["zone", before.shape.zone ?? "any", after.shape.zone ?? "any"],
    ["network", before.shape.network, after.shape.network],
    ["role", before.shape.role, after.shape.role],
    ["replacement", String(before.shape.replace), String(after.shape.replace)],
  ];
  const changes = fields.flatMap(([what, old, now]) => (old === now ? [] : [`${what} ${old} → ${now}`]));
  return changes.length === 0 ? "" : ` (${changes.join(", ")})`;
}
