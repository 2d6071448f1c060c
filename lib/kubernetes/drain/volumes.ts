import type { V1PersistentVolumeClaim, V1VolumeAttachment } from "@kubernetes/client-node";
import { type Deadline, WaitTimeout } from "../../wait";
import type { KubernetesClient } from "../client";
import type { Parts } from "../objects";
import { claimsOf } from "./placement";

type Attachment = Parts<V1VolumeAttachment>;

const ATTACHMENTS = { apiVersion: "storage.k8s.io/v1", kind: "VolumeAttachment" };

/** Returns the nodes that CSI volumes are attached to. */
export async function nodesWithVolumes(kubernetes: KubernetesClient): Promise<Set<string>> {
  const attachments = await kubernetes.list<Attachment>(ATTACHMENTS);
  return new Set(attachments.flatMap(({ spec }) => spec?.nodeName ?? []));
}

/**
 * Returns what is attached to a node and will be detached, as "volume (attacher)".
 *
 * @param staying volumes of pods that stay on the node
 */
export function attachedTo(
  node: string,
  attachments: readonly Attachment[],
  staying: ReadonlySet<string> = new Set(),
): string[] {
  return attachments.flatMap(({ metadata, spec }) => {
    const volume = spec?.source?.persistentVolumeName;
    if (spec?.nodeName !== node || (volume !== undefined && staying.has(volume))) return [];
    return [`${volume ?? metadata?.name ?? "?"} (${spec.attacher ?? "?"})`];
  });
}

/**
 * Waits until no CSI volume is attached to a drained node, except those of pods that a drain leaves there.
 *
 * @returns the volumes that are still attached at the deadline
 */
export async function awaitDetached(
  kubernetes: KubernetesClient,
  node: string,
  waiting: Omit<Deadline, "what">,
): Promise<string[]> {
  const staying = await volumesOfPods(kubernetes, node);
  let attached: string[] = [];
  try {
    await kubernetes.watchUntil<void, Attachment>({
      ...ATTACHMENTS,
      ...waiting,
      what: `the volumes of ${node} to be detached`,
      decide: (attachments) => {
        attached = attachedTo(node, attachments, staying);
        return attached.length === 0 ? { done: undefined } : { pending: attached.join(", ") };
      },
    });
    return [];
  } catch (error) {
    if (error instanceof WaitTimeout) return attached;
    throw error;
  }
}

/** Returns the volumes of the pods that are on a node. */
async function volumesOfPods(kubernetes: KubernetesClient, node: string): Promise<Set<string>> {
  const pods = await kubernetes.listPods({ fieldSelector: `spec.nodeName=${node}` });
  const claims = pods.flatMap((pod) =>
    claimsOf(pod).map((name) => ({ namespace: pod.metadata?.namespace ?? "default", name })),
  );
  const volumes = claims.map(async (claim) => {
    const ref = { apiVersion: "v1", kind: "PersistentVolumeClaim", ...claim };
    return (await kubernetes.get<Parts<V1PersistentVolumeClaim>>(ref))?.spec?.volumeName ?? [];
  });
  return new Set((await Promise.all(volumes)).flat());
}
