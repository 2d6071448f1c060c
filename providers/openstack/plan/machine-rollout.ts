import {
  planBatches,
  type DesiredSlot,
  type Existing,
  type SlotChange,
} from "../../kubeadm/plan/machines/batches";
import { shapeDifferences } from "../../kubeadm/plan/machines/fields";
import { cloudPlanSteps, type CloudPlanStep } from "./steps";
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
    lines: changes.map((change) => cloudPlanSteps.format(stepOf(change))),
  }));
  return { now: first as MachineBatch, later: others };
}

function stepOf({
  slot,
  desired,
  former,
  isMade,
  leaving,
  outdated,
}: SlotChange<MachineRecord>): CloudPlanStep {
  if (desired === undefined) return { kind: "removeSurplus", slot, leaving };
  const { name } = desired;
  const changes = former === undefined ? "" : changesOf(former, desired).join(", ");
  const why = changes === "" ? {} : { changes };
  if (leaving.length === 0)
    return { kind: "make", slot, name, ...(outdated.length > 0 ? { outdated } : {}), ...why };
  return isMade
    ? { kind: "replace", slot, name, leaving, ...why }
    : { kind: "remove", slot, leaving, ...why };
}

/** Returns the differences between two machines of a slot: "flavor a → b". */
function changesOf(before: MachineRecord, after: MachineRecord): string[] {
  const fields = [
    ...shapeDifferences(MACHINE_FIELDS, before.shape, after.shape),
    { label: "role", before: before.role, after: after.role },
    { label: "replacement", before: String(before.replace), after: String(after.replace) },
  ];
  return fields.flatMap(({ label, before: old, after: now }) =>
    old === now ? [] : [`${label} ${old} → ${now}`],
  );
}
