import type { Infrastructure, Tumblebug } from "../client";
import { withoutVms } from "../plan/abandoned";
import { carriesMark, markedBy, markedDescription } from "../../../lib/pulumi/marks";
import { isRunning, lostLines, planMachines, stoppedLines, type MachinePlan } from "../plan/machine-plan";
import type { Slot } from "../plan/groups";
import { type DesiredVmGroup, machineVm } from "../plan/model";
import { factKey, foreignMcis } from "../plan/requirements";
import { ReasonedError } from "../plan/reasons";
import { allInParallel } from "../../kubeadm/resources/session/machines-session";
import { report } from "../../../lib/pulumi/log";
import { listed } from "../../../lib/text/quote";
import { mcisName, vmNames, type McisInputs, type McisOutputs, type Recorded } from "./declarations";
import { waitForVms } from "./vm-wait";

/** The VMs after a run, and its failure if any. */
interface Converged {
  outputs: McisOutputs;
  failure: Error | undefined;
  /** Whether any change was requested from the server. */
  begun: boolean;
}

/** @throws ReasonedError when another stack or program has made the MCIS */
export function assertOwnMcis(
  found: Infrastructure | undefined,
  { namespace, infrastructure, mark }: McisInputs,
): void {
  if (found === undefined || carriesMark(found.description, mark)) return;
  throw new ReasonedError(
    "AlreadyExistMCISFailedReason",
    `the namespace ${namespace} has an MCIS ${infrastructure} that this stack did not create (${found.status})`,
    foreignMcis(markedBy(found.description)),
  );
}

/** Creates missing VMs and waits until all run. The result contains the running VMs even if others failed. */
export async function convergeMcis(
  tumblebug: Tumblebug,
  state: Recorded,
  inputs: McisInputs,
  signal: AbortSignal,
): Promise<Converged> {
  const recorded = withoutVms(state, inputs.abandoned);
  const { infrastructures } = tumblebug;
  const { namespace, infrastructure: name } = inputs;
  const outputs: McisOutputs = { ...inputs, vms: recorded.vms, leaving: recorded.leaving };
  let begun = false;
  try {
    const before = await infrastructures.read(namespace, name).catch((error: unknown) => {
      throw ReasonedError.from("GetMCISFailedReason", error);
    });
    assertOwnMcis(before, inputs);
    const settled = before && (await waitForVms(tumblebug, recorded, inputs, signal));
    const plan = planFor(inputs, recorded, settled);
    if (plan.lost.length > 0)
      throw new ReasonedError("AddNodeEntityFailedReason", lostLines(plan).join("\n"));
    begun = true;
    const kept = await deleteUnused(tumblebug, inputs, plan);
    outputs.unused = kept.vms;
    const refusals = await createVms(tumblebug, inputs, plan, settled);
    const after = await waitForVms(tumblebug, recorded, inputs, signal, kept.vms);
    const final = planFor(inputs, recorded, after);
    outputs.vms = { ...recordedLeavers(recorded, final), ...vmsOf(inputs, recorded, final, after) };
    outputs.leaving = final.leaving;
    const failure = failureOf(inputs, final, outputs.vms, refusals, after?.messages) ?? kept.failure;
    return { outputs: withoutSurplus(outputs), begun, failure };
  } catch (error) {
    // Record the VMs that run by now, because they are usable.
    if (begun) await recordRunning(tumblebug, recorded, inputs, outputs);
    return { outputs: withoutSurplus(outputs), begun, failure: error as Error };
  }
}

const planFor = (inputs: McisInputs, { vms, leaving }: Recorded, found?: Infrastructure): MachinePlan =>
  planMachines({
    slots: inputs.slots,
    recorded: vmNames(vms),
    leaving,
    live: found?.machines,
    listed: inputs.unused ?? [],
    hasWaited: true,
  });

/** Returns the server's path of the VMs, in the namespace. */
export const machinesPath = ({ server, infrastructure }: McisInputs): string =>
  server.generation === "infra" ? `infra/${infrastructure}/node` : `mcis/${infrastructure}/vm`;

/** Returns the server's path of actions on the VMs. */
export const actionsPath = (inputs: McisInputs): string =>
  `/ns/${inputs.namespace}/control/${machinesPath(inputs)}`;

const recordedLeavers = ({ vms }: Recorded, { leaving }: MachinePlan) =>
  Object.fromEntries(Object.entries(vms).filter(([machine]) => Object.hasOwn(leaving, machine)));

/** Moves surplus machines from `vms` to `leaving`. */
function withoutSurplus(outputs: McisOutputs): McisOutputs {
  const desired = new Set(outputs.slots.map(({ machine }) => machine));
  const pick = (isDesired: boolean) =>
    Object.fromEntries(Object.entries(outputs.vms).filter(([name]) => desired.has(name) === isDesired));
  return { ...outputs, vms: pick(true), leaving: { ...vmNames(pick(false)), ...outputs.leaving } };
}

/** Returns the VMs of the machines; one that was running before and does not now stays as it was recorded. */
function vmsOf(
  inputs: McisInputs,
  { vms: recorded }: Recorded,
  { kept }: MachinePlan,
  found: Infrastructure | undefined,
): Recorded["vms"] {
  return Object.fromEntries(
    Object.entries(kept).flatMap(([machine, name]) => {
      const vm = found?.machines.find((one) => one.name === name);
      const known = vm && isRunning(vm) ? machineVm(vm, inputs.user) : recorded[machine];
      return known ? [[machine, known]] : [];
    }),
  );
}

/** Deletes the VMs that no machine has and that the preview listed. @returns those that are left, with one error */
async function deleteUnused(
  { infrastructures }: Tumblebug,
  inputs: McisInputs,
  { unused }: MachinePlan,
): Promise<{ vms: string[]; failure: Error | undefined }> {
  const { namespace, infrastructure } = inputs;
  const previewed = unused.filter(({ vm }) => inputs.unused?.includes(vm) === true);
  const left = await Promise.all(
    previewed.map(async ({ vm, why }) => {
      report(mcisName(inputs), `delete the VM ${vm}, which no machine has (${why})`);
      try {
        await infrastructures.checkCloudOf(namespace, infrastructure, vm);
        await infrastructures.deleteMachine(namespace, infrastructure, vm);
        return [];
      } catch (error) {
        return [{ vm, error: error as Error }];
      }
    }),
  );
  const [first, ...others] = left.flat();
  if (!first) return { vms: [], failure: undefined };
  const vms = [first, ...others].map(({ vm }) => vm);
  const failure = new ReasonedError(
    "CreateMCISFailedReason",
    `no machine has ${listed(vms)}, which could not be deleted: ${first.error.message}`,
    "fix the cause, then run `up` again: it tries again",
  );
  return { vms, failure };
}

/**
 * Requests the missing VMs. @returns the server's errors; the result of each VM is in the server's record, which exists
 * even if every VM of a new MCIS failed
 */
async function createVms(
  { infrastructures }: Tumblebug,
  inputs: McisInputs,
  plan: MachinePlan,
  before: Infrastructure | undefined,
): Promise<Error[]> {
  const { namespace, infrastructure: name, mark } = inputs;
  const resource = mcisName(inputs);
  const groups = desiredGroups(inputs, plan.made);
  if (!before) {
    const description = markedDescription(mark, inputs.stack);
    report(resource, `create with ${plan.made.map(({ machine }) => machine).join(", ")}`);
    try {
      await infrastructures.create(namespace, { name, description, groups });
      return [];
    } catch (error) {
      const found = await infrastructures.read(namespace, name);
      if (!found || !carriesMark(found.description, mark)) throw error;
      return [error as Error];
    }
  }
  await allInParallel(plan.failed, async ({ machine, vm, why }) => {
    report(resource, `${machine}: delete its VM ${vm}, which never came up (${why})`);
    await infrastructures.checkCloudOf(namespace, name, vm);
    await infrastructures.deleteMachine(namespace, name, vm);
  });
  const results = await Promise.allSettled(
    groups.map((group) => {
      report(resource, `add ${group.size} to ${group.name}`);
      return infrastructures.addGroup(namespace, name, group);
    }),
  );
  return results.flatMap((result) => (result.status === "rejected" ? [result.reason as Error] : []));
}

/** Returns one error with all machines that failed to start or do not run, and those that run. */
function failureOf(
  inputs: McisInputs,
  plan: MachinePlan,
  vms: Recorded["vms"],
  refusals: readonly Error[],
  messages: readonly string[] = [],
): Error | undefined {
  const stopped = plan.stopped.filter(({ machine }) => !Object.hasOwn(vms, machine));
  const down = plan.made.length + stopped.length;
  if (down === 0) return undefined;
  const why = (machine: string) => {
    const dead = plan.failed.find((one) => one.machine === machine);
    return dead ? `VM ${dead.vm} ${dead.why}` : "it has no VM";
  };
  const up = Object.keys(plan.kept).filter((machine) => Object.hasOwn(vms, machine));
  const lines = [
    ...plan.made.map(({ machine }) => `  ${machine}: ${why(machine)}`),
    ...stoppedLines({ stopped }, actionsPath(inputs)).map((line) => `  ${line}`),
  ];
  const words = new Set([...refusals.map(({ message }) => message), ...messages]);
  return new ReasonedError(
    "CreateMCISFailedReason",
    [
      `${down} of ${inputs.slots.length} VMs did not come up:`,
      ...lines,
      ...[...words].map((message) => `  ${message}`),
      `  up: ${up.length === 0 ? "none" : up.join(", ")}`,
    ].join("\n"),
    "fix the cause, then run `up` again: it creates only these VMs again",
  );
}

async function recordRunning(
  { infrastructures }: Tumblebug,
  recorded: Recorded,
  inputs: McisInputs,
  outputs: McisOutputs,
): Promise<void> {
  try {
    const found = await infrastructures.read(inputs.namespace, inputs.infrastructure);
    const plan = planFor(inputs, recorded, found);
    outputs.vms = { ...recorded.vms, ...vmsOf(inputs, recorded, plan, found) };
  } catch (error) {
    report(mcisName(inputs), `the current VMs could not be read: ${(error as Error).message}`);
  }
}

/** Returns the desired VM groups of machines; machines with the same group share one. */
function desiredGroups(inputs: McisInputs, slots: readonly Slot[]): DesiredVmGroup[] {
  const groups = new Map<string, DesiredVmGroup>();
  for (const slot of slots) {
    const group = groups.get(slot.vmGroup) ?? emptyGroup(inputs, slot);
    groups.set(slot.vmGroup, { ...group, size: group.size + 1 });
  }
  return [...groups.values()];
}

function emptyGroup(inputs: McisInputs, slot: Slot): DesiredVmGroup {
  const { vmGroup: name, connection, spec, image, role, rootDisk } = slot;
  const objects = inputs.objects[connection];
  if (!objects) throw new Error(`the connection ${connection} of ${slot.machine} has no VNet`);
  const { vNet, subnet, nodes, controlPlanes, sshKey } = objects;
  return {
    name,
    size: 0,
    connection,
    spec: inputs.specs[factKey(connection, spec)] ?? spec,
    image: inputs.images[factKey(connection, image)] ?? image,
    vNet,
    subnet,
    sshKey,
    user: inputs.user,
    securityGroups:
      role === "control-plane" && controlPlanes !== undefined ? [nodes, controlPlanes] : [nodes],
    ...(rootDisk ? { rootDisk } : {}),
  };
}
