import type { VirtualMachine } from "./model";

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
  /** Delete the record. `isMixed`: some VMs terminated, others never started; the server refuses this without force. */
  | { kind: "delete"; isMixed: boolean };

/**
 * Returns the next step of deleting an MCIS. A failed VM is also terminated once, because the server then checks
 * whether it exists in the cloud. A VM with an id in the cloud counts as ended only in status Terminated, so that a
 * forced deletion of the record leaves no VM behind.
 *
 * @param wasAsked whether the server was already asked to terminate the VMs
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
