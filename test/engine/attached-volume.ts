import type { KubernetesClient } from "../../lib/kubernetes";

const KIND = { apiVersion: "storage.k8s.io/v1", kind: "VolumeAttachment" };

/** A CSI volume that is attached to a node. */
interface AttachedVolume {
  /** Takes the lines of a run, and detaches the volume when the run waits for it. */
  readonly onLine: (line: string) => void;
  /** What there was to see when the run waited. */
  seen?: unknown;
}

/** Attaches a CSI volume to a node. @param look called when a run waits for its end, before it is detached */
export async function attachVolume(
  kubernetes: KubernetesClient,
  node: string,
  look: () => unknown,
): Promise<AttachedVolume> {
  const source = { persistentVolumeName: "pv-0" };
  const spec = { attacher: "csi.example.com", nodeName: node, source };
  await kubernetes.create({ ...KIND, metadata: { name: "data-0" }, spec });
  let isAwaited = false;
  const volume: AttachedVolume = {
    onLine: (line) => {
      if (isAwaited || !line.includes(`the volumes of ${node} to be detached, last saw pv-0`)) return;
      isAwaited = true;
      volume.seen = look();
      void kubernetes.delete({ ...KIND, name: "data-0" });
    },
  };
  return volume;
}
