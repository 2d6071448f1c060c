import type { Infrastructure, Tumblebug } from "../client";
import { report } from "../../../lib/pulumi/log";
import { waitFor, WaitTimeout } from "../../../lib/wait";
import { isSettled, isStarting, stuckSeconds, type LiveVm } from "../plan/machine-plan";
import { mcisName, vmNames, type McisInputs, type Recorded } from "./declarations";

/**
 * Waits until the VMs that no earlier run recorded have started, failed or stopped, or until those that start have not
 * changed for long: the server has lost them then.
 *
 * @param ignored names of VMs that are not waited for
 */
export async function waitForVms(
  { infrastructures }: Tumblebug,
  { vms, leaving }: Recorded,
  inputs: McisInputs,
  signal: AbortSignal,
  ignored: readonly string[] = [],
): Promise<Infrastructure | undefined> {
  const resource = mcisName(inputs);
  const wanted = new Set(inputs.slots.map(({ machine }) => machine));
  // a machine that is wanted again has no record until its VM runs
  const leavers = Object.entries(leaving).flatMap(([machine, vm]) => (wanted.has(machine) ? [] : [vm]));
  const known = new Set([...Object.values(vmNames(vms)), ...leavers, ...ignored]);
  const groups = new Set(inputs.slots.map(({ vmGroup }) => vmGroup));
  const isAwaited = ({ name, group }: LiveVm) =>
    !known.has(name) && (groups.has(group) || inputs.unused?.includes(name) === true);
  const stuckMilliseconds = stuckSeconds(inputs.timeoutSeconds) * 1000;
  let last = { busy: "", since: Date.now(), changes: 0 };
  let stuck: Infrastructure | undefined;
  try {
    return await waitFor<Infrastructure | undefined>({
      what: `the VMs of the ${resource} to come up`,
      seconds: inputs.timeoutSeconds,
      signal,
      progress: (line) => report(resource, line),
      probe: async () => {
        const found = await infrastructures.read(inputs.namespace, inputs.infrastructure);
        const settling = found?.machines.filter((vm) => isAwaited(vm) && !isSettled(vm)) ?? [];
        if (settling.length === 0) return { done: found };
        const busy = settling
          .map(({ name, status }) => `${name} ${status}`)
          .sort()
          .join(", ");
        if (busy !== last.busy) last = { busy, since: Date.now(), changes: last.changes + 1 };
        const areStarting = settling.every((vm) => isStarting(vm) || vm.status === "Terminating");
        stuck = areStarting && last.changes === 1 ? found : undefined;
        return areStarting && Date.now() - last.since >= stuckMilliseconds
          ? { done: found }
          : { pending: busy };
      },
    });
  } catch (error) {
    // with a deadline that is as short, the VMs have not changed during the whole wait
    if (error instanceof WaitTimeout && stuck !== undefined) return stuck;
    throw error;
  }
}
