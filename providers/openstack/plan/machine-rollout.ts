import {
  planBatches,
  type DesiredSlot,
  type Existing,
  type SlotChange,
} from "../../kubeadm/plan/machines/batches";
import { shapeDifferences } from "../../kubeadm/plan/machines/fields";
import { MACHINE_FIELDS, type MachineRecord } from "./machine";

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

/** The batch of this run, and those of the remaining runs if every run succeeds. */
export interface MachineRollout {
  now: MachineBatch;
  later: MachineBatch[];
}

/** Plans the runs that change the existing servers into the desired ones, and describes them. */
export function planRollout(
  desired: readonly DesiredSlot<MachineRecord>[],
  existing: readonly Existing<MachineRecord>[],
): MachineRollout {
  const { now, later } = planBatches(desired, existing);
  const [first, ...others] = [now, ...later].map(({ changes, ...batch }) => ({
    ...batch,
    lines: changes.map(lineOf),
  }));
  return { now: first as MachineBatch, later: others };
}

function lineOf({ slot, desired, former, isMade, leaving, outdated }: SlotChange<MachineRecord>): string {
  const names = leaving.join(", ");
  if (desired === undefined) return `${slot}: ${names} is drained and deleted, it is no longer wanted`;
  const why = changeOf(former, desired);
  if (leaving.length === 0)
    return `${slot}: ${desired.name} is made${outdated.length > 0 ? ` beside ${outdated.join(", ")}` : ""}${why}`;
  return isMade
    ? `${slot}: ${desired.name} is made and joins, then ${names} is drained and deleted${why}`
    : `${slot}: ${names} is drained and deleted${why}`;
}

/** Returns the differences between two machines of a slot as text: " (flavour a → b)". */
function changeOf(before: MachineRecord | undefined, after: MachineRecord): string {
  if (before === undefined) return "";
  const fields = [
    ...shapeDifferences(MACHINE_FIELDS, before.shape, after.shape),
    { label: "role", before: before.role, after: after.role },
    { label: "replacement", before: String(before.replace), after: String(after.replace) },
  ];
  const changes = fields.flatMap(({ label, before: old, after: now }) =>
    old === now ? [] : [`${label} ${old} → ${now}`],
  );
  return changes.length === 0 ? "" : ` (${changes.join(", ")})`;
}
