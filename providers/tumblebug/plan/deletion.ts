import type { VirtualMachine } from "./model";

/** What the decisions about the end of VMs look at. */
export type EndingVm = Pick<VirtualMachine, "name" | "status" | "cloudId">;

/** Statuses of a VM that failed, or never began: with an id in the cloud it may run there all the same. */
const DOUBTFUL: readonly string[] = ["Failed", "Undefined", "Preparing", "Prepared", "Empty"];

/** Whether nothing of a VM is left in the cloud, as far as the server can say. */
export function hasEnded({ status, cloudId }: Pick<EndingVm, "status" | "cloudId">): boolean {
  return status === "Terminated" || (DOUBTFUL.includes(status) && cloudId === "");
}

/** What destroying an MCIS does next. */
type DeletionStep =
  /** ask the server to end these VMs */
  | { kind: "terminate"; vms: string[] }
  /** wait for these, which are being ended */
  | { kind: "wait"; vms: string[] }
  /** drop the record; `isMixed`: some VMs ended, others never came up, which the server refuses without force */
  | { kind: "delete"; isMixed: boolean };

/**
 * Decides what destroying an MCIS does next. A VM that failed is terminated once, too: the server then looks whether the cloud has
 * it. One that has an id in the cloud counts as ended only when the server says that it is terminated, so that no VM is left behind
 * when its record is dropped by force.
 *
 * @param wasAsked whether the server was asked to terminate them before
 */
export function nextDeletionStep(vms: readonly EndingVm[], wasAsked: boolean): DeletionStep {
  const names = (some: readonly EndingVm[]) => some.map(({ name }) => name).sort();
  const rest = vms.filter((vm) => (wasAsked ? !hasEnded(vm) : vm.status !== "Terminated"));
  const running = rest.filter(({ status }) => status !== "Terminating");
  if (running.length > 0) return { kind: "terminate", vms: names(running) };
  if (rest.length > 0) return { kind: "wait", vms: names(rest) };
  const ended = vms.filter(({ status }) => status === "Terminated").length;
  return { kind: "delete", isMixed: ended > 0 && ended < vms.length };
}
