import type { RoutesContext } from "./routes-context";
import type { StoredInfrastructure, StoredMachine } from "./state";
import { Refusal, sorted } from "./wire";

/**
 * Terminates all VMs, and answers only when they have ended, as both generations do.
 * @throws Refusal about VMs that ended before: 0.7.0 asks the cloud for each of them again
 */
export async function terminateAll(
  context: RoutesContext,
  namespace: string,
  found: StoredInfrastructure,
): Promise<void> {
  const { wire, durations, lifecycle, state, faults } = context;
  const isMcis = wire.generation === "mcis";
  if (isMcis && faults.isSpiderDown) {
    // 0.7.0 loses the error, and then takes a VM without a status for one that has ended
    for (const machine of found.machines) {
      if (!machine.isMade) continue;
      Object.assign(machine, { status: "Terminated", targetAction: "Terminate", targetStatus: "Terminated" });
    }
    state.save();
    return;
  }
  const again = found.machines.filter(
    ({ hasEnded, status }) => hasEnded && (isMcis || status === "Terminating"),
  );
  const living = found.machines.filter(({ isMade, hasEnded }) => isMade && !hasEnded);
  const counted = isMcis ? found.machines : living;
  if (isMcis) {
    found.targetAction = "Terminate";
    found.targetStatus = "Terminated";
  }
  const batches = Math.ceil(counted.length / durations.terminatedTogether);
  if (living.length > 0) await lifecycle.endMachines(namespace, found, living, batches);
  else if (isMcis) await lifecycle.rest(durations.termination * batches);
  for (const machine of found.machines) {
    if (machine.isMade) continue;
    machine.systemMessage = isMcis
      ? "Not valid requested CSPNativeVmId: []"
      : "terminated (VM was never created at CSP)";
    if (isMcis) continue;
    machine.status = "Terminated";
    machine.targetStatus = "Terminated";
    machine.targetAction = "None";
  }
  // the record shows it only after the next read from the cloud
  for (const machine of again) machine.status = isMcis ? "Terminating" : "Terminated";
  state.save();
  if (again.length > 0)
    throw isMcis ? goneInMcis(namespace, found.id, again) : goneInInfra(context, found, again);
}

function goneInMcis(namespace: string, infrastructure: string, again: readonly StoredMachine[]): Refusal {
  const words = sorted(again).map(({ connection, id }) => {
    const message = `[${connection}:vm:${namespace}-${infrastructure}-${id}] does not exist!`;
    return `[${JSON.stringify({ message })}\n]`;
  });
  return new Refusal(500, words.join(""));
}

function goneInInfra(
  { wire }: RoutesContext,
  found: StoredInfrastructure,
  again: readonly StoredMachine[],
): Refusal {
  const [first] = again as [StoredMachine, ...StoredMachine[]];
  const words = wire.relay(
    `VM '${first.uid}' does not exist in connection '${first.connection}'`,
    `vm/${first.uid}`,
  );
  return new Refusal(
    500,
    `${again.length}/${found.machines.length} node control operations failed; first error: VM ${first.id}: ${words}`,
  );
}

/** Removes VMs and their records. The newer server removes a group with its last VM, the older one never does. */
export async function dropRecords(
  { state, lifecycle, wire }: RoutesContext,
  namespace: string,
  found: StoredInfrastructure,
  dropped: readonly StoredMachine[],
): Promise<void> {
  await lifecycle.discard(namespace, found, dropped);
  found.machines = found.machines.filter((machine) => !dropped.includes(machine));
  for (const balancer of found.balancers)
    balancer.machines = balancer.machines.filter((id) => !dropped.some((machine) => machine.id === id));
  if (wire.generation === "infra")
    found.lastNumbers = Object.fromEntries(
      [...new Set(found.machines.map(({ group }) => group))].map((group) => [
        group,
        lastNumber(found, group),
      ]),
    );
  state.save();
}

function lastNumber({ machines }: StoredInfrastructure, group: string): number {
  return Math.max(
    ...machines
      .filter((machine) => machine.group === group)
      .map(({ id }) => Number(id.slice(group.length + 1))),
  );
}
