import { isRefusal, type Tumblebug, type TumblebugRefusal } from "../client";
import { waitFor, WaitTimeout } from "../../../lib/wait";
import { nextDeletionStep } from "../plan/deletion";

/** When VMs are asked to end again: a server may have lost the first request to a cloud, and then waits for ever. */
const AGAIN_SECONDS = 60;

interface DeletionOptions {
  /** Deadline of the whole. */
  seconds: number;
  signal?: AbortSignal;
  progress: (line: string) => void;
  /** For tests. @default 60 */
  againSeconds?: number;
}

/**
 * Terminates all VMs of an MCIS, follows each to its end, and drops the record; with none there it does nothing. It looks before each
 * step what there is, so that a run that was killed is continued by the next.
 *
 * @throws TumblebugRefusal when the server refuses to terminate VMs twice, or to drop the record of VMs that have ended; the last
 *   one, or WaitTimeout, at the deadline
 */
export async function deleteMcis(
  { infrastructures }: Tumblebug,
  { namespace, infrastructure: name }: { namespace: string; infrastructure: string },
  { seconds, signal, progress, againSeconds = AGAIN_SECONDS }: DeletionOptions,
): Promise<void> {
  let askedAt: number | undefined;
  let refusal: TumblebugRefusal | undefined;
  let isDropRefused = false;

  const terminate = async (vms: string[]): Promise<string> => {
    const state = `${vms.join(", ")} to end`;
    if (askedAt !== undefined && Date.now() - askedAt < againSeconds * 1000) return state;
    progress(`terminate ${vms.join(", ")}`);
    askedAt = Date.now();
    try {
      await infrastructures.control(namespace, name, "terminate", { force: true });
      refusal = undefined;
      return state;
    } catch (error) {
      const isSecond = refusal?.code === "Refused" && isRefusal(error, "Refused");
      if (!isRefusal(error, "Refused", "NotAllowedNow", "NotFound") || isSecond) throw error;
      refusal = error;
      return error.message;
    }
  };

  /** @returns what is waited for; undefined when the record is gone */
  const drop = async (isMixed: boolean): Promise<string | undefined> => {
    // the first refusal is the server's usual answer to a mixture, so that force is used only where nothing else works
    const force = isMixed && isDropRefused;
    if (force) progress("every VM has ended, and some never came up: drop the record by force");
    try {
      await infrastructures.delete(namespace, name, force ? { option: "force" } : {});
      return undefined;
    } catch (error) {
      if (!isRefusal(error, "NotAllowedNow", "DeletionPending")) throw error;
      isDropRefused = error.code === "NotAllowedNow";
      refusal = error;
      return error.message;
    }
  };

  try {
    await waitFor<true>({
      what: `the MCIS ${name} to be gone`,
      seconds,
      ...(signal ? { signal } : {}),
      progress,
      probe: async () => {
        const found = await infrastructures.read(namespace, name);
        if (!found) return { done: true };
        const step = nextDeletionStep(found.machines, askedAt !== undefined);
        if (step.kind === "terminate") return { pending: await terminate(step.vms) };
        if (step.kind === "wait") {
          refusal = undefined;
          return { pending: `${step.vms.join(", ")} to end` };
        }
        const waiting = await drop(step.isMixed);
        return waiting === undefined ? { done: true } : { pending: waiting };
      },
    });
  } catch (error) {
    if (error instanceof WaitTimeout && refusal !== undefined) throw refusal;
    throw error;
  }
}
