import {
  planBatches,
  type DesiredSlot,
  type Existing,
  type MachineBatch,
  type SlotChange,
} from "../../kubeadm/plan/machines/batches";
import { shapeDifferences } from "../../kubeadm/plan/machines/fields";
import { cloudPlanSteps, type CloudPlanStep } from "./steps";
import { MACHINE_FIELDS, type MachineRecord } from "./machine";

/**
 * Plans the runs that change the existing servers into the desired ones, with one line per machine.
 *
 * @param unattached servers without their port: they leave at once, since nothing reaches them
 */
export function planRollout(
  desired: readonly DesiredSlot<MachineRecord>[],
  existing: readonly Existing<MachineRecord>[],
  unattached: readonly MachineRecord[] = [],
) {
  const without = new Set(unattached.map(({ name }) => name));
  const leaving = unattached.map((machine) => ({ ...machine, joined: false, isLeaving: true }));
  const { now, later } = planBatches(desired, [...existing, ...leaving]);
  const described = ({ changes, ...batch }: MachineBatch<MachineRecord>) => {
    return { ...batch, lines: changes.map((change) => cloudPlanSteps.format(stepOf(change, without))) };
  };
  return { now: described(now), later: later.map(described) };
}

function stepOf(change: SlotChange<MachineRecord>, unattached: ReadonlySet<string>): CloudPlanStep {
  const { slot, desired, former, isMade, leaving, outdated } = change;
  if (leaving.length > 0 && leaving.every((name) => unattached.has(name)))
    return desired !== undefined && isMade
      ? { kind: "replaceUnattached", slot, name: desired.name, leaving }
      : { kind: "removeUnattached", slot, leaving };
  if (desired === undefined) return { kind: "removeSurplus", slot, leaving };
  const { name } = desired;
  const changes = former === undefined ? "" : changesOf(former, desired).join(", ");
  const why = changes === "" ? {} : { changes };
  if (leaving.length > 0 && !isMade) return { kind: "remove", slot, leaving, ...why };
  if (leaving.length > 0) return { kind: "replace", slot, name, leaving, ...why };
  return { kind: "make", slot, name, ...(outdated.length > 0 ? { outdated } : {}), ...why };
}

/** Returns the differences between two machines of a slot: "flavor a → b". */
function changesOf(former: MachineRecord, desired: MachineRecord): string[] {
  const fields = [
    ...shapeDifferences(MACHINE_FIELDS, former.shape, desired.shape),
    { label: "role", before: former.role, after: desired.role },
    { label: "replacement", before: former.replace, after: desired.replace },
  ];
  return fields.flatMap(({ label, before, after }) =>
    before === after ? [] : [`${label} ${before} → ${after}`],
  );
}
