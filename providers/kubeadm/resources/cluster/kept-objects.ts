import type { KubernetesClient, NewObject } from "../../../../lib/kubernetes";
import { KubernetesError } from "../../../../lib/kubernetes/errors";
import { refOf } from "../../../../lib/kubernetes/objects";
import { editedPaths, type KeptReading, restoringFields } from "../../plan/cluster/kept-objects";

/** Reads objects of a cluster, one request each; one that these credentials may not read is unread, not unchanged. */
export function readKept(
  kubernetes: KubernetesClient,
  objects: readonly NewObject[],
): Promise<KeptReading[]> {
  return Promise.all(
    objects.map(async (object) => {
      try {
        return { live: await kubernetes.get(refOf(object)) };
      } catch (error) {
        if (error instanceof KubernetesError && error.status === 403) return { unread: error.message };
        throw error;
      }
    }),
  );
}

/**
 * Makes an object of a cluster as it is desired: creates it, or writes its fields over those that others changed and removes
 * those that they added. Their labels and annotations stay.
 */
export async function writeKept(kubernetes: KubernetesClient, object: NewObject): Promise<void> {
  const reference = refOf(object);
  const live = await kubernetes.get(reference);
  // the API changes no binding's role
  if (live && editedPaths(object, live).some((path) => path.startsWith("roleRef")))
    await kubernetes.delete(reference, live.metadata?.uid === undefined ? {} : { uid: live.metadata.uid });
  await kubernetes.change(reference, (found) => (found ? restoringFields(object, found) : object));
}
