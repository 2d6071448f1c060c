import { carriesMark, markedBy } from "../../../lib/pulumi/marks";
import { isRefusal, saysAbsent, type Infrastructure, type Tumblebug, type TumblebugRefusal } from "../client";
import { waitFor, WaitTimeout } from "../../../lib/wait";
import { nextDeletionStep } from "../plan/machine-plan";
import type { McisInputs } from "./declarations";

/** Time after which termination is requested again: a server that lost the first request would wait forever. */
const AGAIN_SECONDS = 60;

type Machine = Infrastructure["machines"][number];

interface DeletionOptions {
  /** Deadline of the whole deletion. */
  seconds: number;
  signal?: AbortSignal;
  progress: (line: string) => void;
  /** For tests. @default 60 */
  againSeconds?: number;
}

/**
 * Terminates all VMs of an MCIS, waits for their end, and deletes the record. Does nothing if the MCIS does not exist, or
 * has another owner by now. If the server reports VMs as terminated that it could not ask the cloud about, requests their
 * termination again until it answers that the cloud does not have them.
 * Reads the MCIS before each step, so that a new run continues an interrupted deletion.
 *
 * @throws TumblebugRefusal if the server can't reach CB-Spider, with the record kept; if the server refuses twice to terminate VMs, or refuses to delete the record of ended VMs;
 *   at the deadline, the last TumblebugRefusal or WaitTimeout
 */
export async function deleteMcis(
  { infrastructures }: Tumblebug,
  { namespace, infrastructure: name, mark }: Pick<McisInputs, "namespace" | "infrastructure" | "mark">,
  { seconds, signal, progress, againSeconds = AGAIN_SECONDS }: DeletionOptions,
): Promise<void> {
  let askedAt: number | undefined;
  /** VMs that the cloud does not have, as an answer of this run said. */
  const absent = new Set<string>();
  let confirmations = 0;
  let refusal: TumblebugRefusal | undefined;
  let isDeletionRefused = false;

  const isDoubted = ({ name: vm, cloudId }: Machine) =>
    !infrastructures.confirmsEnd && cloudId !== "" && !absent.has(vm);

  const terminate = async (vms: string[], machines: readonly Machine[]): Promise<string> => {
    const state = `${vms.join(", ")} to end`;
    if (askedAt !== undefined && Date.now() - askedAt < againSeconds * 1000) return state;
    progress(`terminate ${vms.join(", ")}`);
    return request(state, machines);
  };

  /** Asks for the end of VMs once more: the answer names those that the cloud does not have. */
  const confirm = async (vms: string[], machines: readonly Machine[]): Promise<string> => {
    const state = `the cloud to confirm the end of ${vms.join(", ")}`;
    // The first request may have ended the VMs, and the second one says so.
    const isSoon = confirmations++ < 2;
    if (!isSoon && askedAt !== undefined && Date.now() - askedAt < againSeconds * 1000) return state;
    progress(`ask whether the cloud still has ${vms.join(", ")}`);
    return request(state, machines);
  };

  /** Requests the end of all VMs. @returns the reason to wait */
  const request = async (state: string, machines: readonly Machine[]): Promise<string> => {
    await infrastructures.checkClouds(machines);
    askedAt = Date.now();
    const note = (answer: TumblebugRefusal | undefined) => {
      for (const vm of machines) if (answer && saysAbsent(answer, vm.cloudName)) absent.add(vm.name);
    };
    try {
      const answer = await infrastructures.terminate(namespace, name, { force: true });
      note(answer);
      const isUnclear = answer !== undefined && machines.some(isDoubted);
      if (isUnclear && refusal?.words === answer.words) throw answer;
      refusal = isUnclear ? answer : undefined;
      return isUnclear ? answer.message : state;
    } catch (error) {
      if (isRefusal(error, "Refused", "NotFound")) note(error);
      const isSecond = refusal?.code === "Refused" && isRefusal(error, "Refused");
      if (!isRefusal(error, "Refused", "NotAllowedNow", "NotFound") || isSecond) throw error;
      refusal = error;
      return error.message;
    }
  };

  /** Deletes the record. @returns the reason to wait; undefined if the record is deleted */
  const deleteRecord = async (isMixed: boolean): Promise<string | undefined> => {
    // The server usually refuses mixed VMs at first, so force is used only after a refusal.
    const force = isMixed && isDeletionRefused;
    if (force) progress("every VM has ended, and some never started: delete the record by force");
    try {
      await infrastructures.delete(namespace, name, { force });
      return undefined;
    } catch (error) {
      if (!isRefusal(error, "NotAllowedNow", "DeletionPending")) throw error;
      isDeletionRefused = error.code === "NotAllowedNow";
      refusal = error;
      return error.message;
    }
  };

  try {
    await waitFor<true>({
      what: `the MCIS ${name} to be deleted`,
      seconds,
      signal,
      progress,
      probe: async () => {
        const found = await infrastructures.read(namespace, name);
        if (!found) return { done: true };
        if (!carriesMark(found.description, mark)) {
          progress(
            `${markedBy(found.description) ?? "another program"} has made one of its name, which is left alone`,
          );
          return { done: true };
        }
        const { machines } = found;
        const step = nextDeletionStep(machines, askedAt !== undefined, isDoubted);
        if (step.kind === "terminate") return { pending: await terminate(step.vms, machines) };
        if (step.kind === "confirm") return { pending: await confirm(step.vms, machines) };
        if (step.kind === "wait") {
          refusal = undefined;
          return { pending: `${step.vms.join(", ")} to end` };
        }
        const waiting = await deleteRecord(step.isMixed);
        return waiting === undefined ? { done: true } : { pending: waiting };
      },
    });
  } catch (error) {
    if (error instanceof WaitTimeout && refusal !== undefined) throw refusal;
    throw error;
  }
}
