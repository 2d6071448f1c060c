import { laterLines } from "../../../lib/text/remaining-runs";
import { byIndex } from "../../kubeadm/plan/membership/plan";
import type { Slot } from "./groups";
import type { RecordedCluster } from "./recorded-state";

/** The changes of one run to existing machines. */
export interface MachineBatch {
  /** Machines of the run, control planes first. Machines with a VM are unchanged. */
  slots: Slot[];
  /** Control planes that this run removes. */
  leaving: string[];
  /** The changes as text, one line per machine. */
  steps: string[];
  /** The changes of the remaining runs, one line per machine. */
  later: string[];
  /** Changes in the configuration of existing machines that apply to new machines only. */
  remarks: string[];
}

const STAYS = ["connection", "spec", "image"] as const;

/**
 * Plans the machines of a run. A machine with a VM keeps its connection, machine type and image until it is replaced.
 * A run removes at most one surplus control plane, and only if another one that has joined remains, so that etcd
 * keeps its majority. The others are removed by later runs.
 *
 * @param wanted the desired machines of the configuration
 * @param lost lost machines, which are removed from the cluster before any other machine
 */
export function planBatch(
  wanted: readonly Slot[],
  { slots: recorded, controlPlanes }: Pick<RecordedCluster, "slots" | "controlPlanes">,
  lost: readonly string[],
): MachineBatch {
  const known = new Map(recorded.map((slot) => [slot.machine, slot]));
  const isWanted = new Set(wanted.map(({ machine }) => machine));
  const surplus = controlPlanes.members
    .filter((machine) => !isWanted.has(machine))
    .sort((one, other) => byIndex(other, one));
  const staying = surplus.filter(
    (machine) => known.has(machine) && !lost.includes(machine) && controlPlanes.kept.includes(machine),
  );
  // Lost control planes, and those whose removal was interrupted, are removed first.
  const isBusy = staying.length < surplus.length;
  const joined = controlPlanes.joined.filter((machine) => !lost.includes(machine));
  const goes = !isBusy && joined.length > 1 ? staying.slice(0, 1) : [];
  const others = staying.filter((machine) => !goes.includes(machine));
  const slots = wanted.map((slot) => keepPlace(slot, known.get(slot.machine)));
  return {
    slots: [
      ...slots.filter(({ role }) => role === "control-plane"),
      ...[...others].reverse().flatMap((machine) => known.get(machine) ?? []),
      ...slots.filter(({ role }) => role === "worker"),
    ],
    leaving: surplus.filter((machine) => !others.includes(machine)),
    steps: goes.map(lineOf),
    later: laterLines(others.map((machine) => ({ lines: [lineOf(machine)] }))),
    remarks: wanted.flatMap((slot) => remark(slot, known.get(slot.machine)) ?? []),
  };
}

const lineOf = (machine: string): string =>
  `${machine}: leaves etcd and the cluster, and its VM is deleted; one control plane goes in a run`;

function keepPlace(slot: Slot, recorded: Slot | undefined): Slot {
  if (recorded === undefined) return slot;
  const { connection, spec, image, vmGroup, rootDisk } = recorded;
  const { rootDisk: _, ...others } = slot;
  return { ...others, connection, spec, image, vmGroup, ...(rootDisk ? { rootDisk } : {}) };
}

function remark(slot: Slot, recorded: Slot | undefined): string | undefined {
  if (recorded === undefined) return undefined;
  const disk = ({ rootDisk }: Slot) =>
    rootDisk === undefined
      ? "the image's"
      : [rootDisk.type, rootDisk.gibibytes && `${rootDisk.gibibytes} GiB`].filter(Boolean).join(" ");
  const changes = [
    ...STAYS.map((field) => [field, recorded[field], slot[field]] as const),
    ["root disk", disk(recorded), disk(slot)] as const,
  ].flatMap(([field, now, then]) => (now === then ? [] : [`${field} ${now}, not ${then}`]));
  if (changes.length === 0) return undefined;
  return `${slot.machine} keeps its ${changes.join(", ")}: a new machine takes that; to have one, raise its number in \`tumblebug.replace\``;
}
