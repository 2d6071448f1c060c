import { isObject } from "../../../../lib/json";
import { quoted } from "../../../../lib/text/quote";
import { below, issueAt, type ValidationIssue, valueAt } from "../../../../lib/validation/validation-issue";

const CERTIFICATES = { "k8s-certs": "/etc/kubernetes/pki", "ca-certs": "/etc/ssl/certs" };

/** Volumes that kubeadm mounts in each program of a control plane, by name; a volume of such a name replaces it. */
const MOUNTED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  apiServer: CERTIFICATES,
  controllerManager: { ...CERTIFICATES, kubeconfig: "/etc/kubernetes/controller-manager.conf" },
  scheduler: { kubeconfig: "/etc/kubernetes/scheduler.conf" },
};

/**
 * Returns an issue for each volume of a control plane's program whose path in the pod is that of another one, since no
 * kubelet runs such a pod. Paths are relative to the cluster.
 */
export function extraVolumeIssues({ kubeadm }: { kubeadm?: object | undefined }): ValidationIssue[] {
  return Object.entries(MOUNTED).flatMap(([program, own]) => {
    const path = ["clusterConfiguration", program, "extraVolumes"];
    const list = valueAt(kubeadm, path);
    const volumes = (Array.isArray(list) ? (list as unknown[]) : []).map((one) => (isObject(one) ? one : {}));
    const names = volumes.map(({ name }) => name);
    const taken = new Map<unknown, string>(
      Object.entries(own).flatMap(([name, mountPath]) => (names.includes(name) ? [] : [[mountPath, name]])),
    );
    return volumes.flatMap(({ name, mountPath }, index) => {
      if (typeof name !== "string" || typeof mountPath !== "string") return [];
      const other = taken.get(mountPath);
      // a repeated name has its own rule
      if (other === undefined) taken.set(mountPath, name);
      const isTaken = other !== undefined && other !== name;
      return below(
        ["kubeadm", ...path, index],
        issueAt(
          ["mountPath"],
          isTaken
            ? `${quoted(mountPath)} is that of the volume ${quoted(other)}, too, and no kubelet runs such a pod; write another path, or one volume`
            : undefined,
        ),
      );
    });
  });
}
