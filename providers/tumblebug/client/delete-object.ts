import { waitFor, WaitTimeout } from "../../../lib/wait";
import type { TumblebugApi } from "./api";
import { isRefusal } from "./existence";
import type { TumblebugRefusal } from "./errors";

/** What was there a moment ago may still be in use by what was deleted before it. */
const IN_USE_SECONDS = 20;

/** What is to be deleted. */
export interface Deletion {
  /** in words, such as "the vNet v1" */
  readonly what: string;
  readonly path: string;
  readonly isLong?: boolean;
  /** the server's own word on whether it is still there */
  readonly isThere: () => Promise<boolean>;
  /** whether a deletion that isn't allowed now is waited for; otherwise it is refused */
  readonly isPatient?: boolean;
  /** whether what was refused for no reason that can be read is on its way out all the same, and is asked for again */
  readonly isEnding?: () => Promise<boolean>;
  /** for how long something that is in use is tried again; default 20 seconds */
  readonly inUseSeconds?: number;
}

/**
 * Deletes something and waits until it is gone: a deletion that goes on behind the answer (202) is followed, one that the
 * cloud has not confirmed (409) is asked for again.
 *
 * @returns false when there was none
 * @throws TumblebugRefusal: "InUse", "NotAllowedNow", "DeletionPending" at the deadline
 */
export async function deleteObject(api: TumblebugApi, deletion: Deletion): Promise<boolean> {
  const { what, path, isLong = false, isThere, inUseSeconds = IN_USE_SECONDS } = deletion;
  const { signal, progress } = api.options;
  const began = Date.now();
  let last: TumblebugRefusal | undefined;
  let isAccepted = false;
  try {
    return await waitFor<boolean>({
      what: `${what} to be deleted`,
      seconds: api.secondsOf({ isLong }),
      firstPauseMilliseconds: 500,
      ...(signal ? { signal } : {}),
      ...(progress ? { progress } : {}),
      probe: async () => {
        if (isAccepted) return (await isThere()) ? { pending: "it is on its way out" } : { done: true };
        try {
          const reply = await api.call({ method: "DELETE", path, isRepeatable: true, isLong });
          if (reply.status !== 202) return { done: true };
          isAccepted = true;
          return { pending: "its deletion was accepted" };
        } catch (error) {
          if (isRefusal(error, "NamespaceNotFound")) return { done: false };
          if (!isRefusal(error, "NotFound", "Refused", "InUse", "DeletionPending", "NotAllowedNow"))
            throw error;
          if (!(await isThere())) return { done: last !== undefined };
          last = error;
          const mayPass =
            error.code === "DeletionPending" ||
            (error.code === "NotAllowedNow" && deletion.isPatient === true) ||
            (error.code === "InUse" && Date.now() - began < inUseSeconds * 1000) ||
            (error.code === "Refused" && (await deletion.isEnding?.()) === true);
          if (mayPass) return { pending: error.message };
          throw error;
        }
      },
    });
  } catch (error) {
    if (error instanceof WaitTimeout && last !== undefined) throw last;
    throw error;
  }
}
