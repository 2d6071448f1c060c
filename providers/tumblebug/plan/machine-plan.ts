import type { Slot } from "./groups";
import { tumblebugMcisSteps } from "./steps";
import type { VirtualMachine } from "./model";

/** Fields of a VM on the server that the plan depends on. */
export type LiveVm = Pick<
  VirtualMachine,
  "name" | "group" | "status" | "targetAction" | "systemMessage" | "publicAddress" | "cloudId"
>;

/** A machine that a run was to have. */
export type PlannedSlot = Pick<Slot, "machine" | "vmGroup">;

export interface DesiredMachine {
  slots: readonly Slot[];
  /** Machine → VM that was running when it was recorded. */
  recorded: Readonly<Record<string, string>>;
  /** Machine → surplus VM, which is deleted after its machine has left the cluster. */
  leaving: Readonly<Record<string, string>>;
  /** VMs on the server; undefined if the MCIS does not exist. */
  live: readonly LiveVm[] | undefined;
  /** Machines that the last run of this state was to have. */
  planned?: readonly PlannedSlot[];
  /** VMs that a preview has listed as unused. */
  listed?: readonly string[];
  /** Whether the run has waited for VMs to start: those that have not by now are replaced. @default false */
  hasWaited?: boolean;
}

export interface MachinePlan {
  /** Machine → existing VM, running or starting. */
  kept: Record<string, string>;
  /** VMs that failed to start, which are deleted and replaced. */
  failed: { machine: string; vm: string; why: string }[];
  /** Machines without a VM, which is created. */
  made: Slot[];
  /** Machines whose recorded VM no longer exists or failed: their disks are lost. */
  lost: { machine: string; vm: string; why: string }[];
  /** Machine → surplus VM that still exists. */
  leaving: Record<string, string>;
  /** VMs that no machine has and that an earlier run of this state made, or that have ended. They never joined. */
  unused: { vm: string; why: string }[];
  /** VMs that no machine has and of which the state does not know whose they are: they may be Nodes, and stay. */
  strangers: { vm: string; group: string; status: string }[];
  /** Machines of no earlier run whose VM has not started yet. */
  awaited: { machine: string; vm: string; status: string }[];
  /** Machines whose VM exists and does not run: suspended, or in another operation. */
  stopped: { machine: string; vm: string; status: string }[];
}

const DEAD = ["Failed", "Undefined", "Terminating", "Terminated"];

export const isDead = ({ status }: Pick<LiveVm, "status">): boolean => DEAD.includes(status);

/** Returns whether a VM's status is final: running, suspended, failed or terminated. */
export function isSettled(vm: LiveVm): boolean {
  if (isDead(vm)) return vm.status !== "Terminating";
  return isRunning(vm) || vm.status === "Suspended";
}

/** Returns whether a VM is neither up nor stopped nor dead: if it stays so, the server has lost it. */
export const isStarting = (vm: Pick<LiveVm, "status">): boolean =>
  !isDead(vm) && !["Running", "Suspended", "Suspending"].includes(vm.status);

/** Returns the status of a VM that does not run, or undefined. An "Undefined" VM may run. */
export const stoppedStatus = (status: string | undefined): string | undefined =>
  status !== undefined && ["Suspended", "Suspending", "Failed", "Terminating", "Terminated"].includes(status)
    ? status
    : undefined;

/** Longest time in which a VM's status may stay the same while it starts: the server itself gives up earlier. */
const MOST_STUCK_SECONDS = 600;

/** Returns after how many seconds without a change a VM that starts counts as failed. */
export const stuckSeconds = (timeoutSeconds: number): number => Math.min(MOST_STUCK_SECONDS, timeoutSeconds);

/** Returns whether a VM is running and has an address for SSH. */
export function isRunning({ status, targetAction, publicAddress }: LiveVm): boolean {
  return status === "Running" && targetAction === "None" && publicAddress !== undefined;
}

/** Returns whether a VM that no run recorded is replaced. The server says "Undefined" also of a VM that runs. */
const hasFailedToStart = (vm: LiveVm): boolean => isDead(vm) && (vm.status !== "Undefined" || hasEnded(vm));

function whyDead({ status, systemMessage }: Pick<LiveVm, "status" | "systemMessage">): string {
  return systemMessage === "" ? status : `${status}: ${systemMessage}`;
}

/** Returns the number that the server gave a VM in its group, for numeric sorting. */
const numberOf = (vm: string): number => Number(/-(\d+)$/.exec(vm)?.[1] ?? 0);

/**
 * Assigns VMs to machines and plans the changes. A machine keeps its recorded VM. Unassigned VMs are assigned in
 * order to machines of the same VM group that have none, so that VMs of an interrupted run are used although it did
 * not record them.
 */
export function planMachines(desired: DesiredMachine): MachinePlan {
  const { slots, recorded, leaving, live = [], hasWaited = false } = desired;
  const plan: MachinePlan = {
    kept: {},
    failed: [],
    made: [],
    lost: [],
    leaving: {},
    unused: [],
    strangers: [],
    awaited: [],
    stopped: [],
  };
  const byName = new Map(live.map((vm) => [vm.name, vm]));
  const wanted = new Set(slots.map(({ machine }) => machine));
  for (const [machine, vm] of Object.entries({ ...leaving, ...recorded }))
    if (!wanted.has(machine) && byName.has(vm)) plan.leaving[machine] = vm;
  // A machine that is desired again before its VM was deleted keeps the VM.
  const own = (machine: string) => recorded[machine] ?? leaving[machine];
  const assigned = new Set([
    ...Object.values(plan.leaving),
    ...slots.flatMap(({ machine }) => own(machine) ?? []),
  ]);
  const free = [...live]
    .filter(({ name }) => !assigned.has(name))
    .sort((one, other) => numberOf(one.name) - numberOf(other.name) || (one.name < other.name ? -1 : 1));
  for (const slot of slots) {
    const { machine } = slot;
    const name = own(machine);
    const vm = name === undefined ? undefined : byName.get(name);
    if (vm && !isDead(vm)) plan.kept[machine] = vm.name;
    else if (name !== undefined && (vm !== undefined || recorded[machine] !== undefined))
      plan.lost.push({ machine, vm: name, why: vm ? whyDead(vm) : "it no longer exists" });
    else assignFree(plan, slot, free, (one) => hasFailedToStart(one) || (hasWaited && isStarting(one)));
  }
  const strangers = strangersOf(free, desired);
  plan.unused = free.filter((vm) => !strangers.includes(vm)).map((vm) => ({ vm: vm.name, why: whyDead(vm) }));
  plan.strangers = strangers.map(({ name, group, status }) => ({ vm: name, group, status }));
  for (const [machine, name] of Object.entries(plan.kept)) {
    const vm = byName.get(name);
    if (!vm || vm.status === "Running") continue;
    const isNew = recorded[machine] === undefined && isStarting(vm);
    (isNew ? plan.awaited : plan.stopped).push({ machine, vm: name, status: vm.status });
  }
  return plan;
}

/**
 * Returns those of the VMs without a machine that must stay. A state that was restored from a backup does not know the
 * machines that joined since, and other people may have added VMs to the MCIS: deleting one takes a Node away without a
 * drain. So a VM is only deleted when nothing runs in it, a preview has listed it, or the last run was to have
 * machines of its group that it did not record. More VMs of a group than such machines all stay.
 *
 * @param free VMs that no machine has
 */
function strangersOf(
  free: readonly LiveVm[],
  { slots, recorded, leaving, planned = [], listed = [] }: DesiredMachine,
): LiveVm[] {
  const isKnown = (machine: string) => Object.hasOwn(recorded, machine) || Object.hasOwn(leaving, machine);
  const desired = new Set(slots.map(({ machine }) => machine));
  const open = planned.filter(({ machine }) => !isKnown(machine) && !desired.has(machine));
  const doubtful = free.filter(
    (vm) => !hasEnded(vm) && vm.status !== "Terminating" && !listed.includes(vm.name),
  );
  const countIn = (group: string) => open.filter(({ vmGroup }) => vmGroup === group).length;
  return doubtful.filter(
    ({ group }) => doubtful.filter((other) => other.group === group).length > countIn(group),
  );
}

/** Assigns the next free VM of its group to a machine. Adds failed VMs before it to `plan.failed`. */
function assignFree(plan: MachinePlan, slot: Slot, free: LiveVm[], hasFailed: (vm: LiveVm) => boolean): void {
  for (;;) {
    const index = free.findIndex(({ group }) => group === slot.vmGroup);
    const [vm] = index < 0 ? [] : free.splice(index, 1);
    if (!vm) break;
    if (!hasFailed(vm)) {
      plan.kept[slot.machine] = vm.name;
      return;
    }
    plan.failed.push({ machine: slot.machine, vm: vm.name, why: whyDead(vm) });
    // All control planes share a group: further failed VMs belong to the next machines.
    if (slot.role === "control-plane") break;
  }
  plan.made.push(slot);
}

/** @param timeoutSeconds deadline for VMs to start */
export function machineLines(plan: MachinePlan, timeoutSeconds: number): string[] {
  const { format } = tumblebugMcisSteps;
  return [
    ...plan.unused.map((one) => format({ kind: "deleteUnused", ...one })),
    ...plan.awaited.map((one) => format({ kind: "await", ...one, seconds: stuckSeconds(timeoutSeconds) })),
    ...plan.made.flatMap(({ machine, connection, spec, image }) => [
      ...plan.failed
        .filter((one) => one.machine === machine)
        .map(({ vm, why }) => format({ kind: "deleteFailed", machine, vm, why })),
      format({ kind: "create", machine, connection, shape: `${spec}, ${image}` }),
    ]),
  ];
}

/**
 * Returns a line for each machine whose VM does not run, with the request that starts it.
 * @param folder the server's path of actions on the VMs
 */
export const stoppedLines = ({ stopped }: Pick<MachinePlan, "stopped">, folder: string): string[] =>
  stopped.map(
    ({ machine, vm, status }) =>
      `${machine}: its VM ${vm} is ${status}` +
      (status === "Suspended" ? `; start it: \`GET ${folder}/${vm}?action=resume\` on the server` : ""),
  );

/**
 * Returns a line for each VM that stays because nothing says whose it is.
 * @param folder the server's path of the VMs
 */
export const strangerLines = ({ strangers }: Pick<MachinePlan, "strangers">, folder: string): string[] =>
  strangers.map(
    ({ vm, group, status }) =>
      `no machine has the VM ${vm} (${status}), and no run that the state knows made it: it stays. If the state is older ` +
      `than the cluster, ${vm} may be one of its nodes: configure a machine for the VM group ${group} again, and remove it ` +
      `after \`up\`. If it is not needed, delete it: \`DELETE ${folder}/${vm}\` on the server`,
  );

/** Returns one line per lost machine, with the remediation. Lost machines block the run. */
export function lostLines({ lost }: MachinePlan): string[] {
  return lost.map(
    ({ machine, vm, why }) =>
      `${machine}: its VM ${vm} is lost (${why}), with its disk. To replace the machine, ` +
      `raise its number in \`tumblebug.replace\`, and list "${machine}" under \`tumblebug.lost\``,
  );
}

/** Fields of a VM that the deletion depends on. */
export type EndingVm = Pick<VirtualMachine, "name" | "status" | "cloudId">;

/** Statuses of a VM that failed or was never started. If it has an id in the cloud, it may still run there. */
const DOUBTFUL: readonly string[] = ["Failed", "Undefined", "Preparing", "Prepared", "Empty"];

/** Returns whether a VM no longer exists in the cloud, as far as the server can tell. */
export function hasEnded({ status, cloudId }: Pick<EndingVm, "status" | "cloudId">): boolean {
  return status === "Terminated" || (DOUBTFUL.includes(status) && cloudId === "");
}

/** The next step of deleting an MCIS. */
type DeletionStep =
  /** Request the termination of these VMs. */
  | { kind: "terminate"; vms: string[] }
  /** Wait for these VMs, which are being terminated. */
  | { kind: "wait"; vms: string[] }
  /** Ask whether the cloud still has these VMs, which the server reports as terminated. */
  | { kind: "confirm"; vms: string[] }
  /** Delete the record. `isMixed`: some VMs terminated, others never started; the server refuses this without force. */
  | { kind: "delete"; isMixed: boolean };

/**
 * Returns the next step of deleting an MCIS. A failed VM is also terminated once, because the server then checks
 * whether it exists in the cloud. A VM with an id in the cloud counts as ended only in status Terminated, so that a
 * forced deletion of the record leaves no VM behind.
 *
 * @param wasAsked whether the server was already asked to terminate the VMs
 * @param isDoubted whether a VM may run on although the server reports it as terminated
 */
export function nextDeletionStep<Vm extends EndingVm>(
  vms: readonly Vm[],
  wasAsked: boolean,
  isDoubted: (vm: Vm) => boolean = () => false,
): DeletionStep {
  const names = (some: readonly EndingVm[]) => some.map(({ name }) => name).sort();
  const rest = vms.filter((vm) => (wasAsked ? !hasEnded(vm) : vm.status !== "Terminated"));
  const running = rest.filter(({ status }) => status !== "Terminating");
  if (running.length > 0) return { kind: "terminate", vms: names(running) };
  if (rest.length > 0) return { kind: "wait", vms: names(rest) };
  const doubted = vms.filter((vm) => vm.status === "Terminated" && isDoubted(vm));
  if (doubted.length > 0) return { kind: "confirm", vms: names(doubted) };
  const ended = vms.filter(({ status }) => status === "Terminated").length;
  return { kind: "delete", isMixed: ended > 0 && ended < vms.length };
}
