import { posix } from "node:path";

/** Places that foresail or kubeadm write themselves, with what to use instead. */
const OWNED: [place: string, instead: string][] = [
  ["/etc/kubernetes/pki", "kubeadm makes the certificates there"],
  ["/etc/kubernetes/manifests", "kubeadm writes the control plane there; use cluster.kubeadm"],
  ["/etc/kubernetes/admin.conf", "kubeadm writes it"],
  ["/etc/kubernetes/super-admin.conf", "kubeadm writes it"],
  ["/etc/kubernetes/kubelet.conf", "kubeadm writes it"],
  ["/etc/kubernetes/bootstrap-kubelet.conf", "kubeadm writes it"],
  ["/etc/kubernetes/controller-manager.conf", "kubeadm writes it"],
  ["/etc/kubernetes/scheduler.conf", "kubeadm writes it"],
  ["/var/lib/kubelet", "the kubelet owns it; use cluster.kubelet"],
  ["/var/lib/etcd", "etcd owns it"],
  ["/etc/containerd/certs.d", "foresail writes it; use cluster.registries"],
];

/** What is wrong with the absolute path of a file on a machine, or undefined. */
export function absolutePathMistake(path: string): string | undefined {
  if (!path.startsWith("/")) return `"${path}" is not absolute; start it with "/"`;
  if (posix.normalize(path) !== path || path.endsWith("/") || path.includes("\0")) {
    return `"${path}" is not a plain path; write it without "..", "//" and a "/" at the end`;
  }
  return undefined;
}

/** What is wrong with the path of an extra file, or undefined. */
export function hostFilePathMistake(path: string): string | undefined {
  const owned = OWNED.find(([place]) => path === place || path.startsWith(`${place}/`));
  return absolutePathMistake(path) ?? (owned && `"${path}" may not be written: ${owned[1]}`);
}

/** What is wrong with the content of an extra file, or undefined. */
export function hostFileContentMistake(content: string): string | undefined {
  if (!content.includes("PRIVATE KEY-----")) return undefined;
  return "holds a private key, which would be stored and shown in plain; bring it to the machine another way";
}

/** What is wrong with the permissions of a file, or undefined. */
export function fileModeMistake(mode: string): string | undefined {
  return /^0?[0-7]{3}$/.test(mode)
    ? undefined
    : `"${mode}" is not a file mode; write it in octal and in quotes, e.g. "0600"`;
}

/** What is wrong with the owner of a file, or undefined. */
export function fileOwnerMistake(owner: string): string | undefined {
  return /^[a-z_][a-z0-9_-]{0,31}(:[a-z_][a-z0-9_-]{0,31})?$/.test(owner)
    ? undefined
    : `"${owner}" is not an owner; write "user" or "user:group"`;
}
