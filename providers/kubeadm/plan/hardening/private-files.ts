import { valueAt } from "../../../../lib/validation/validation-issue";
import type { ClusterSpecification } from "../cluster/specification";

/** The kernel's settings of a profile. */
export const SYSCTL_FILE = "/etc/kubernetes/hardening/sysctl.conf";

/** Files that kubeadm, packages and network plugins write readable for everyone. */
const PRIVATE = [
  ...["/etc/kubernetes/pki", "/etc/kubernetes/manifests", "/var/lib/kubelet/config.yaml", "/etc/cni/net.d"],
  ...["/etc/systemd/system/kubelet.service", "/etc/systemd/system/kubelet.service.d"],
  ...["/usr/lib/systemd/system/kubelet.service", "/usr/lib/systemd/system/kubelet.service.d"],
];

/** Returns etcd's data folder. */
export function etcdDataFolder({ kubeadm }: Pick<ClusterSpecification, "kubeadm">): string {
  const own = valueAt(kubeadm, ["clusterConfiguration", "etcd", "local", "dataDir"]);
  return typeof own === "string" && own.startsWith("/") ? own : "/var/lib/etcd";
}

/** Returns etcd's data folder for a unit. kubeadm makes it private only when it creates it: a disk may be mounted there. */
function etcdFolder(specification: Pick<ClusterSpecification, "kubeadm">): string {
  const folder = etcdDataFolder(specification);
  return /^\/[\w./-]+$/.test(folder) ? folder : "/var/lib/etcd";
}

export const UNIT_FILE = "/etc/systemd/system/kubelet.service.d/foresail-hardening.conf";

/** Returns a part of the kubelet's unit, since each change of these files ends with a restart of the kubelet. */
export const kubeletUnit = (specification: ClusterSpecification) => `[Service]
# the kubelet does not start with other settings of the kernel (protectKernelDefaults)
ExecStartPre=-/usr/sbin/sysctl --quiet --ignore --load=${SYSCTL_FILE}
ExecStartPre=-/usr/bin/find ${PRIVATE.join(" ")} -type f -perm /077 -exec /usr/bin/chmod go= {} +
ExecStartPre=-/usr/bin/find ${etcdFolder(specification)} -maxdepth 0 -perm /077 -exec /usr/bin/chmod 0700 {} +
`;

/** Returns which files become private whenever the kubelet of a machine starts: those below the paths, and the folder. */
export function madePrivate(specification: ClusterSpecification): {
  paths: readonly string[];
  folder: string;
} {
  const unit = specification.files.find(({ path }) => path === UNIT_FILE);
  return specification.profile !== undefined && unit?.content === kubeletUnit(specification)
    ? { paths: PRIVATE, folder: etcdFolder(specification) }
    : { paths: [], folder: "" };
}
