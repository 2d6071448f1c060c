import { laterLines } from "../../../lib/steps/steps";
import { CONTROL_PLANE_GROUP, controlPlanesOf } from "../../kubeadm/plan/cluster/machine";
import {
  leavingLaterOf,
  planBatches,
  type MachineBatch as PlannedBatch,
  type PlannedMachine,
} from "../../kubeadm/plan/machines/batches";
import { withoutDrain, type StoppedStatuses } from "../../kubeadm/plan/machines/stopped";
import { shapeDifferences, withShapeOf } from "../../kubeadm/plan/machines/fields";
import { MACHINE_FIELDS, type Slot } from "./groups";
import { tumblebugPlanSteps } from "./steps";
import type { RecordedCluster } from "./recorded-state";

/** The changes of one run to existing machines. */
export interface SlotBatch {
  /** Machines of the run, control planes first. Machines with a VM are unchanged. */
  slots: Slot[];
  /** Control planes that this run removes. */
  leaving: string[];
  /** Machines that leave in this run without a drain, since their VMs do not run. */
  undrained: string[];
  /** Machines of this run that a later run removes. */
  leavingLater: string[];
  /** The changes as text, one line per machine. */
  steps: string[];
  /** The changes of the remaining runs, one line per machine. */
  later: string[];
  /** Changes in the configuration of existing machines that apply to new machines only. */
  remarks: string[];
}

/**
 * Plans the machines of a run. A machine with a VM keeps its connection, machine type and image until it is replaced.
 * A run removes at most one surplus control plane, and only if another one that has joined remains, so that etcd
 * keeps its majority. The others are removed by later runs. Workers need no batches.
 *
 * @param wanted the desired machines of the configuration
 * @param lost lost machines, which are removed from the cluster before any other machine
 * @param stopped machine → status of its VM, which does not run: these leave before others
 */
export function planBatch(
  wanted: readonly Slot[],
  { slots: recorded, controlPlanes }: Pick<RecordedCluster, "slots" | "controlPlanes">,
  lost: readonly string[],
  stopped: StoppedStatuses = {},
): SlotBatch {
  const known = new Map(recorded.map((slot) => [slot.machine, slot]));
  const slots = new Map(wanted.map((slot) => [slot.machine, withKnownShape(slot, known.get(slot.machine))]));
  const planes = controlPlanesOf(wanted);
  const joined = controlPlanes.joined.filter((machine) => !lost.includes(machine));
  const { now, later } = planBatches(
    planes.map(({ machine }) => ({ machine: controlPlane(machine), replacementsPerRun: 1 })),
    controlPlanes.members.map((machine) => ({
      ...controlPlane(machine),
      joined: joined.includes(machine),
      isMember: true,
      // Lost control planes, and those whose removal was interrupted, are removed first.
      isLeaving: lost.includes(machine) || !known.has(machine) || !controlPlanes.kept.includes(machine),
      isStopped: Object.hasOwn(stopped, machine),
    })),
  );
  const staying = [
    ...now.machines.flatMap(({ name }) => slots.get(name) ?? known.get(name) ?? []),
    ...[...slots.values()].filter(({ role }) => role === "worker"),
  ];
  const names = new Set(staying.map(({ machine }) => machine));
  const before = controlPlanes.members.map((name) => ({ name, joined: joined.includes(name) }));
  const undrainable = withoutDrain(stopped, before, names);
  const undrained = Object.keys(undrainable)
    .filter((machine) => !names.has(machine))
    .sort();
  const planeLines = ({ changes }: PlannedBatch<PlannedMachine>) =>
    changes.flatMap(({ leaving, isBegun }) =>
      leaving
        .filter((machine) => !isBegun || Object.hasOwn(undrainable, machine))
        .map((machine) => lineOf(machine, undrainable[machine])),
    );
  return {
    slots: staying,
    leaving: now.leaving,
    undrained,
    leavingLater: leavingLaterOf({ now, later }),
    steps: [
      ...planeLines(now),
      ...undrained
        .filter((machine) => !now.leaving.includes(machine))
        .map((machine) => lineOf(machine, undrainable[machine])),
    ],
    later: laterLines(later.map((batch) => ({ lines: planeLines(batch) }))),
    remarks: wanted.flatMap((slot) => remark(slot, known.get(slot.machine)) ?? []),
  };
}

/** Returns a control plane for the planner. A replacement has another name, so each name is a slot of its own. */
function controlPlane(machine: string): PlannedMachine {
  return { name: machine, slot: machine, pool: CONTROL_PLANE_GROUP, role: "control-plane", generation: 1 };
}

/** @param status of a VM that does not run, whose machine is not drained */
const lineOf = (machine: string, status: string | undefined): string =>
  tumblebugPlanSteps.format(
    status === undefined ? { kind: "remove", machine } : { kind: "removeStopped", machine, status },
  );

function withKnownShape(slot: Slot, recorded: Slot | undefined): Slot {
  if (recorded === undefined) return slot;
  return { ...withShapeOf(MACHINE_FIELDS, slot, recorded), vmGroup: recorded.vmGroup };
}

function remark(slot: Slot, recorded: Slot | undefined): string | undefined {
  const changes = recorded ? shapeDifferences(MACHINE_FIELDS, recorded, slot) : [];
  if (changes.length === 0) return undefined;
  const fields = changes.map(({ label, before, after }) => `${label} ${before}, not ${after}`).join(", ");
  return `${slot.machine} keeps its ${fields}: a new machine takes that; to have one, raise its number in \`tumblebug.replace\``;
}
