import type { Slot } from "./groups";
import type { LiveVm } from "./machine-plan";
import type { RecordedCluster } from "./recorded-state";

type RecordedVms = Pick<RecordedCluster, "vms" | "leaving">;

/**
 * Returns the live VMs that a killed run recorded, of machines that are no longer wanted and of which it recorded nothing
 * else: no resource of their own deletes them.
 *
 * @param held machines that have such a resource, or may be in the cluster
 */
export function abandonedVms(
  { vms, leaving }: RecordedVms,
  slots: readonly Pick<Slot, "machine">[],
  held: readonly string[],
  live: readonly Pick<LiveVm, "name">[] = [],
): string[] {
  const known = new Set([...slots.map(({ machine }) => machine), ...held]);
  const recorded = [
    ...Object.entries(leaving),
    ...Object.entries(vms).map(([machine, { vm }]) => [machine, vm] as const),
  ];
  const names = new Set(recorded.flatMap(([machine, vm]) => (known.has(machine) ? [] : [vm])));
  return live.flatMap(({ name }) => (names.has(name) ? [name] : [])).sort();
}

/** Returns the recorded VMs without these, which no machine has any more. */
export function withoutVms({ vms, leaving }: RecordedVms, gone: readonly string[] = []): RecordedVms {
  return {
    vms: Object.fromEntries(Object.entries(vms).filter(([, { vm }]) => !gone.includes(vm))),
    leaving: Object.fromEntries(Object.entries(leaving).filter(([, vm]) => !gone.includes(vm))),
  };
}
