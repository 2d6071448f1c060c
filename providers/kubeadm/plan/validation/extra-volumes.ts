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

/** Folders of certificates that kubeadm mounts where the machine has them. */
const OF_MACHINES = [
  "/etc/pki",
  "/etc/ca-certificates",
  "/usr/share/ca-certificates",
  "/usr/local/share/ca-certificates",
];

/** Arguments whose values are files that a program reads: it does not start without them. */
const NAMES_FILE = /(^|-)(file|config|kubeconfig|cafile|certfile|keyfile|certificate)$/;

/** Kernel files, which every pod has. */
const IN_EVERY_POD = ["/dev", "/proc", "/sys"];

const isBelow = (path: string, folder: unknown): boolean =>
  typeof folder === "string" && `${path}/`.startsWith(`${folder.replace(/\/+$/, "")}/`);

/**
 * Returns the issues of arguments that name files which the pod of a control plane's program does not have. Paths are
 * relative to the cluster. kubeadm's patches may mount anything.
 */
export function unmountedFileIssues({ kubeadm }: { kubeadm?: object | undefined }): ValidationIssue[] {
  const hasPatches = ["initConfiguration", "joinConfiguration"].some(
    (kind) => valueAt(kubeadm, [kind, "patches", "directory"]) !== undefined,
  );
  if (hasPatches) return [];
  return Object.entries(MOUNTED).flatMap(([program, own]) => {
    const path = ["clusterConfiguration", program];
    const list = (field: string): unknown[] => {
      const found = valueAt(kubeadm, [...path, field]);
      return Array.isArray(found) ? found : [];
    };
    const given = list("extraVolumes").map((one) => (isObject(one) ? one["mountPath"] : undefined));
    const certificates = "ca-certs" in own ? OF_MACHINES : [];
    const mounted = [...Object.values(own), ...certificates, ...IN_EVERY_POD, ...given];
    return list("extraArgs").flatMap((one, index) => {
      const { name, value } = isObject(one) ? one : {};
      const isFile = typeof name === "string" && NAMES_FILE.test(name);
      if (!isFile || typeof value !== "string" || !value.startsWith("/")) return [];
      if (mounted.some((folder) => isBelow(value, folder))) return [];
      return issueAt(
        ["kubeadm", ...path, "extraArgs", index, "value"],
        `${quoted(value)} is in no volume of this program, which does not start without it; add one with that mountPath under extraVolumes, and write the file with cluster.files`,
      );
    });
  });
}
