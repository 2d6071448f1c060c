import {
  planBatches,
  type DesiredSlot,
  type Existing,
  type MachineBatch,
  type SlotChange,
} from "../../kubeadm/plan/machines/batches";
import { withoutDrain, type StoppedStatuses } from "../../kubeadm/plan/machines/stopped";
import { shapeDifferences } from "../../kubeadm/plan/machines/fields";
import { cloudPlanSteps, type CloudPlanStep } from "./steps";
import { MACHINE_FIELDS, type MachineRecord } from "./machine";

/**
 * Plans the runs that change the existing servers into the desired ones, with one line per machine.
 *
 * @param unattached servers without their port: they leave at once, since nothing reaches them
 * @param stopped machine → status of its server, which does not run
 */
export function planMachineRollout(
  desired: readonly DesiredSlot<MachineRecord>[],
  existing: readonly Existing<MachineRecord>[],
  unattached: readonly MachineRecord[] = [],
  stopped: StoppedStatuses = {},
) {
  const without = new Set(unattached.map(({ name }) => name));
  const leaving = unattached.map((machine) => ({ ...machine, joined: false, isLeaving: true }));
  const others = existing.map((machine) =>
    machine.name in stopped ? { ...machine, isStopped: true } : machine,
  );
  const { now, later } = planBatches(desired, [...others, ...leaving]);
  const planes = existing.filter(({ role }) => role === "control-plane");
  const described = ({ changes, ...batch }: MachineBatch<MachineRecord>) => {
    const staying = new Set(batch.machines.map(({ name }) => name));
    const lost = withoutDrain(stopped, planes, staying);
    const steps = changes.map((change) => stepOf(change, without, lost));
    /** Machines that leave without a drain, since they do not run. */
    const undrained = steps.flatMap((step) =>
      step.kind === "removeStopped" || step.kind === "replaceStopped" ? step.leaving : [],
    );
    return { ...batch, undrained, lines: steps.map((step) => cloudPlanSteps.format(step)) };
  };
  return { now: described(now), later: later.map(described) };
}

function stepOf(
  change: SlotChange<MachineRecord>,
  unattached: ReadonlySet<string>,
  stopped: Readonly<Record<string, string>>,
): CloudPlanStep {
  const { slot, desired, former, isMade, leaving, outdated } = change;
  if (leaving.length > 0 && leaving.every((name) => unattached.has(name)))
    return desired !== undefined && isMade
      ? { kind: "replaceUnattached", slot, name: desired.name, leaving }
      : { kind: "removeUnattached", slot, leaving };
  const [status, ...otherStatuses] = leaving.map((name) => stopped[name]);
  const areStopped = status !== undefined && otherStatuses.every((each) => each !== undefined);
  // a server in ERROR may still run, such as after a migration that failed, so what is replaced is drained
  const mayRun = [status, ...otherStatuses].includes("ERROR");
  if (desired === undefined && areStopped) return { kind: "removeStopped", slot, leaving, status };
  if (desired === undefined) return { kind: "removeSurplus", slot, leaving };
  const { name } = desired;
  const changes = former === undefined ? "" : changesOf(former, desired).join(", ");
  const why = changes === "" ? {} : { changes };
  if (areStopped && isMade && !mayRun) return { kind: "replaceStopped", slot, name, leaving, status, ...why };
  if (areStopped && !mayRun) return { kind: "removeStopped", slot, leaving, status };
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
