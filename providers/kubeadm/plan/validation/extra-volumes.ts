import { isObject } from "../../../../lib/json";
import { quoted } from "../../../../lib/text/quote";
import { dnsLabelIssue } from "../../../../lib/validation/names";
import { below, issueAt, type ValidationIssue, valueAt } from "../../../../lib/validation/validation-issue";

const CERTIFICATES = { "k8s-certs": "/etc/kubernetes/pki", "ca-certs": "/etc/ssl/certs" };

/** Volumes that kubeadm mounts in each program of a control plane, by name; a volume of such a name replaces it. */
const MOUNTED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  apiServer: CERTIFICATES,
  controllerManager: { ...CERTIFICATES, kubeconfig: "/etc/kubernetes/controller-manager.conf" },
  scheduler: { kubeconfig: "/etc/kubernetes/scheduler.conf" },
};

interface Volume {
  name?: unknown;
  hostPath?: unknown;
  mountPath?: unknown;
}

/** Begins the names of foresail's own volumes, of which single fields may be replaced. */
const OWN = "foresail-";

/** Returns why no kubelet runs a pod with a volume, whatever others it has. Other types have their own rule. */
function ownIssues({ name, hostPath, mountPath }: Volume): ValidationIssue[] {
  if (typeof name === "string" && name.startsWith(OWN)) return [];
  const isBackwards = typeof hostPath === "string" && hostPath.split("/").includes("..");
  return [
    ...issueAt(["name"], typeof name === "string" && name !== "" ? dnsLabelIssue(name) : undefined),
    ...issueAt(["hostPath"], hostPath === undefined ? "is missing; write a path of the machine" : undefined),
    ...issueAt(
      ["hostPath"],
      isBackwards ? `${quoted(hostPath)} has "..", which no kubelet takes; write the whole path` : undefined,
    ),
    ...issueAt(["mountPath"], mountPath === undefined ? "is missing; write a path in the pod" : undefined),
  ];
}

/**
 * Returns the issues of the volumes of a control plane's programs with which no kubelet runs the pod. Paths are relative to
 * the cluster.
 */
export function extraVolumeIssues({ kubeadm }: { kubeadm?: object | undefined }): ValidationIssue[] {
  return Object.entries(MOUNTED).flatMap(([program, own]) => {
    const path = ["clusterConfiguration", program, "extraVolumes"];
    const list = valueAt(kubeadm, path);
    const volumes: Volume[] = (Array.isArray(list) ? (list as unknown[]) : []).map((one) =>
      isObject(one) ? one : { hostPath: null, mountPath: null },
    );
    const names = volumes.map(({ name }) => name);
    const taken = new Map<unknown, string>(
      Object.entries(own).flatMap(([name, mountPath]) => (names.includes(name) ? [] : [[mountPath, name]])),
    );
    return volumes.flatMap((volume, index) => {
      const { name, mountPath } = volume;
      const other = taken.get(mountPath);
      // a repeated name has its own rule
      if (other === undefined && typeof name === "string") taken.set(mountPath, name);
      const isTaken = typeof mountPath === "string" && other !== undefined && other !== name;
      return below(
        ["kubeadm", ...path, index],
        [
          ...ownIssues(volume),
          ...issueAt(
            ["mountPath"],
            isTaken
              ? `${quoted(mountPath)} is that of the volume ${quoted(other)}, too, and no kubelet runs such a pod; write another path, or one volume`
              : undefined,
          ),
        ],
      );
    });
  });
}
