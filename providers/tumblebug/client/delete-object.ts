import { waitFor, WaitTimeout } from "../../../lib/wait";
import type { TumblebugApi } from "./api";
import { isRefusal } from "./existence";
import type { TumblebugRefusal } from "./errors";

/** Default time to retry an object in use, because an object that used it may have been deleted only just now. */
const IN_USE_SECONDS = 20;

/** Options for a deletion. */
export interface Deletion {
  /** Name of the object in messages, such as "the vNet v1". */
  readonly what: string;
  readonly path: string;
  readonly isLong?: boolean;
  /** Returns whether the object still exists, according to the server. */
  readonly isThere: () => Promise<boolean>;
  /** Whether to retry a deletion that is not allowed now. @default false: throws the refusal */
  readonly isPatient?: boolean;
  /** Returns whether the object is being deleted although the request failed without a known reason; then retries. */
  readonly isEnding?: () => Promise<boolean>;
  /** Time to retry an object in use, in seconds. @default 20 */
  readonly inUseSeconds?: number;
}

/**
 * Deletes an object and waits until it no longer exists. Waits for an asynchronous deletion (202), and retries one that
 * the cloud has not confirmed (409).
 *
 * @returns false if the object did not exist
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
