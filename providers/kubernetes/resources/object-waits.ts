import { type Identity, objectName } from "../plan/identity";
import { deletionState } from "../plan/deletion";
import { judgeStatus, type ObservedObject, type DesiredStatus } from "../plan/status";
import type { ClusterWork } from "./inputs";

/** An object has failed: it will not reach the desired status. */
class ObjectFailed extends Error {
  override readonly name = "ObjectFailed";
}

type Live = ObservedObject & {
  metadata?: { uid?: string; finalizers?: string[]; deletionTimestamp?: string };
};

/**
 * Waits until an object has the desired status.
 *
 * @returns the values of the requested fields, and the object's uid
 * @throws ObjectFailed, WaitTimeout with the last condition
 */
export function untilReady(
  { kubernetes, ...waiting }: ClusterWork,
  ref: Identity,
  desired: DesiredStatus,
  seconds: number,
): Promise<{ values: Record<string, unknown>; uid: string }> {
  const name = objectName(ref);
  return kubernetes.watchUntil<{ values: Record<string, unknown>; uid: string }, Live>({
    ...ref,
    what: name,
    seconds,
    ...waiting,
    decide: ([object]) => {
      if (object === undefined) return { pending: "no such object" };
      if (object.metadata?.deletionTimestamp !== undefined) return { pending: "it is being deleted" };
      const judged = judgeStatus(object, desired);
      if ("failed" in judged) throw new ObjectFailed(`${name} failed: ${judged.failed}`);
      if ("pending" in judged) return judged;
      return { done: { values: judged.done, uid: object.metadata?.uid ?? "" } };
    },
  });
}

/**
 * Waits until an object is gone.
 *
 * @param uid of the object; a new object with the same name does not count
 * @throws WaitTimeout with the remaining finalizers, the conditions that say why, and the parts of the API that are down
 */
export async function untilGone(
  { kubernetes, ...waiting }: ClusterWork,
  ref: Identity,
  seconds: number,
  uid?: string,
): Promise<void> {
  const isGone = (object: Live | undefined) =>
    object === undefined ||
    (uid === undefined ? object.metadata?.deletionTimestamp === undefined : object.metadata?.uid !== uid);
  if (isGone(await kubernetes.get<Live>(ref))) return;
  const { unavailableExtensions } = await import("../../../lib/kubernetes/index.js");
  const down = await unavailableExtensions(kubernetes);
  await kubernetes.watchUntil<void, Live>({
    ...ref,
    what: `${objectName(ref)} to be gone`,
    seconds,
    ...waiting,
    decide: ([object]) =>
      object === undefined || isGone(object)
        ? { done: undefined }
        : { pending: [deletionState(object), ...down].join("; ") },
  });
}
