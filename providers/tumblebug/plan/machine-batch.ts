import { laterLines } from "../../../lib/text/remaining-runs";
import { byIndex } from "../../kubeadm/plan/membership/plan";
import type { Slot } from "./groups";
import type { RecordedCluster } from "./recorded-state";

/** What one run does to the machines that earlier runs made. */
export interface MachineBatch {
  /** Machines that the run has, control planes first; those that have a VM stay what they are. */
  slots: Slot[];
  /** Control planes that leave in this run. */
  leaving: string[];
  /** The same in words, a line a machine. */
  steps: string[];
  /** What the next runs do, a line a machine. */
  later: string[];
  /** What the configuration says of a machine that has a VM, and only a new one takes. */
  remarks: string[];
}

const STAYS = ["connection", "spec", "image"] as const;

/**
 * Which machines a run has. A machine with a VM keeps its connection, machine type and image until it is replaced. Of the
 * control planes that are no longer wanted one leaves in a run, when another one stays that has joined: then etcd always has a
 * majority. The others stay until the next runs.
 *
 * @param wanted the machines that the configuration asks for
 * @param lost machines that are dead; they are forgotten before any other leaves
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
  // dead ones and those that are half-way out, whose VMs are spoken for no more, come first
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
