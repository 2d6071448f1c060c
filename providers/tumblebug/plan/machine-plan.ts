import type { Slot } from "./groups";
import type { VirtualMachine } from "./model";

/** What the plan looks at in a VM of the server. */
export type LiveVm = Pick<
  VirtualMachine,
  "name" | "group" | "status" | "targetAction" | "systemMessage" | "publicAddress" | "privateAddress" | "spec"
>;

export interface DesiredMachine {
  slots: readonly Slot[];
  /** Machine → VM that had come up when it was recorded. */
  recorded: Readonly<Record<string, string>>;
  /** Machine → VM that is no longer wanted, and goes when the cluster has let it go. */
  leaving: Readonly<Record<string, string>>;
  /** What the server has; undefined when there is no such MCIS. */
  live: readonly LiveVm[] | undefined;
}

export interface MachinePlan {
  /** Machine → VM that is there, running or on its way. */
  kept: Record<string, string>;
  /** VMs that never came up, and make room for others. */
  failed: { machine: string; vm: string; why: string }[];
  /** Machines that have no VM. */
  made: Slot[];
  /** Machines whose VM had come up and is no more: their Nodes and disks are lost. */
  lost: { machine: string; vm: string; why: string }[];
  /** Machine → VM that is still to go. */
  leaving: Record<string, string>;
}

const DEAD = ["Failed", "Undefined", "Terminating", "Terminated"];

/** Whether a VM has come to its end without being of any use. */
export const isDead = ({ status }: Pick<LiveVm, "status">): boolean => DEAD.includes(status);

/** Whether nothing more will happen to a VM by itself. */
export function isSettled(vm: LiveVm): boolean {
  if (isDead(vm)) return vm.status !== "Terminating";
  return isRunning(vm);
}

/** Whether a VM can be logged in to. */
export function isRunning({ status, targetAction, publicAddress }: LiveVm): boolean {
  return status === "Running" && targetAction === "None" && publicAddress !== undefined;
}

/** Why a VM is of no use, in the server's words. */
function whyDead({ status, systemMessage }: Pick<LiveVm, "status" | "systemMessage">): string {
  return systemMessage === "" ? status : `${status}: ${systemMessage}`;
}

/** The number that the server gave a VM in its group; 10 comes after 2. */
const numberOf = (vm: string): number => Number(/-(\d+)$/.exec(vm)?.[1] ?? 0);

/**
 * Which VM is which machine, and what is to be done. A machine keeps the VM that is recorded for it; others of its VM
 * group that nobody else has are given to the machines without one, in order: so a run that was cut off before it could
 * record goes on with what it made.
 */
export function planMachines({ slots, recorded, leaving, live = [] }: DesiredMachine): MachinePlan {
  const plan: MachinePlan = { kept: {}, failed: [], made: [], lost: [], leaving: {} };
  const byName = new Map(live.map((vm) => [vm.name, vm]));
  const wanted = new Set(slots.map(({ machine }) => machine));
  for (const [machine, vm] of Object.entries({ ...leaving, ...recorded }))
    if (!wanted.has(machine) && byName.has(vm)) plan.leaving[machine] = vm;
  // a machine that is wanted again before its VM went has it again
  const own = (machine: string) => recorded[machine] ?? leaving[machine];
  const spoken = new Set([
    ...Object.values(plan.leaving),
    ...slots.flatMap(({ machine }) => own(machine) ?? []),
  ]);
  const free = [...live]
    .filter(({ name }) => !spoken.has(name))
    .sort((one, other) => numberOf(one.name) - numberOf(other.name) || (one.name < other.name ? -1 : 1));
  for (const slot of slots) {
    const { machine } = slot;
    const name = own(machine);
    const vm = name === undefined ? undefined : byName.get(name);
    if (vm && !isDead(vm)) plan.kept[machine] = vm.name;
    else if (name !== undefined && (vm !== undefined || recorded[machine] !== undefined))
      plan.lost.push({ machine, vm: name, why: vm ? whyDead(vm) : "it is not there any more" });
    else placeFree(plan, slot, free);
  }
  return plan;
}

/** Gives a machine the next VM of its group that nobody has, past those that never came up. */
function placeFree(plan: MachinePlan, slot: Slot, free: LiveVm[]): void {
  for (;;) {
    const index = free.findIndex(({ group }) => group === slot.vmGroup);
    const [vm] = index < 0 ? [] : free.splice(index, 1);
    if (!vm) break;
    if (!isDead(vm)) {
      plan.kept[slot.machine] = vm.name;
      return;
    }
    plan.failed.push({ machine: slot.machine, vm: vm.name, why: whyDead(vm) });
    // one machine, one failed VM; further ones are the next machines'
    if (slot.role === "control-plane") break;
  }
  plan.made.push(slot);
}

/** What a person reads of the plan, a line a VM. */
export function machineLines(plan: MachinePlan): string[] {
  const failed = (machine: string) => plan.failed.filter((one) => one.machine === machine);
  return plan.made.flatMap(({ machine, connection, spec, image }) => [
    ...failed(machine).map(({ vm, why }) => `${machine}: delete its VM ${vm}, which never came up (${why})`),
    `${machine}: create its VM in ${connection} (${spec}, ${image})`,
  ]);
}

/** Why nothing may be done while a machine is lost. */
export function lostLines({ lost }: MachinePlan): string[] {
  return lost.map(
    ({ machine, vm, why }) =>
      `${machine}: its VM ${vm} is lost (${why}), and its Node's disk with it. Have another machine made in its place: ` +
      `raise its number in \`tumblebug.replace\`, and list "${machine}" under \`tumblebug.lost\``,
  );
}
