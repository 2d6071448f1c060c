import type { AskedMachine } from "../../../../../providers/kubeadm/plan/facts/machine-reading";
import type { ClusterSpecification } from "../../../../../providers/kubeadm/plan/cluster/specification";
import { exampleSpecification } from "../machine/examples";

/** When the machines answered, here. */
export const AT = 1_795_695_862_000;

const PATHS = ["/etc", "/usr", "/usr/local", "/opt", "/var/lib/foresail", "/var/log", "/run", "/tmp"];
const DATA = ["/var/lib/containerd", "/var/lib/kubelet", "/var/lib/etcd"];

/** The disks of a machine, each as the script says it; some may be another. */
export const disks = (others: Readonly<Record<string, string>> = {}): string =>
  [...PATHS, ...DATA].map((path) => `${path} ${others[path] ?? "40960 2500000 ext4 rw,relatime"}`).join("\n");

/** What a fresh machine says that can become a node. */
export const FRESH: Readonly<Record<string, string>> = {
  clock: String(AT / 1000),
  timeSync: "yes",
  container: "no",
  machineId: "0a1b2c3d4e5f60718293a4b5c6d7e8f9",
  hostName: "cp-1",
  productId: "6f0e0c6e-0c9c-4b58-9f3e-0c8f7a5d1b42",
  hardwareAddresses: "52:54:00:12:34:56",
  addresses:
    "1: lo    inet 127.0.0.1/8 scope host lo\n2: eth0    inet 10.0.0.11/24 brd 10.0.0.255 scope global eth0",
  mtu: "1500",
  routes:
    "default via 10.0.0.1 dev eth0 proto static\n10.0.0.0/24 dev eth0 proto kernel scope link src 10.0.0.11",
  systemName: "Debian GNU/Linux 13 (trixie)",
  kernel: "6.12.48+deb13-amd64",
  processor: "x86_64",
  init: "systemd",
  cgroup: "cgroup2fs",
  controllers: "cpuset cpu io memory hugetlb pids rdma misc",
  processors: "4",
  memory: "7937",
  swap: "/dev/sda5 partition",
  limits: "4194304",
  mounts: disks(),
  nameServers: "127.0.0.53",
  resolver: "active",
  listening: "udp 127.0.0.53%lo:53 systemd-resolve\ntcp 0.0.0.0:22 sshd",
  modules: "overlay loaded\nbr_netfilter available\nnf_conntrack available",
  modulesDisabled: "0",
  firewalld: "inactive",
  kubelet: "inactive",
  apparmor: "parser",
  cloudInit: "done",
  packages: "containerd 1.7.24~ds1-6+b4\nconntrack 1:1.4.8-2",
  repositoryVersions:
    "kubeadm 1.36.2-1.1\nkubelet 1.36.2-1.1\nkubectl 1.36.2-1.1\nkubeadm 1.36.3-1.1\nkubelet 1.36.3-1.1\nkubectl 1.36.3-1.1",
  "page.repository": "200",
  "page.registry": "401",
  "page.distribution": "200",
  "neighbor.cp-2": "Connection refused",
};

/** A machine, and what differs from a fresh one. */
export function asked(
  facts: Readonly<Record<string, string | undefined>> = {},
  over: Partial<Omit<AskedMachine, "reading" | "specification">> & {
    specification?: Partial<ClusterSpecification>;
  } = {},
): AskedMachine {
  const said = Object.entries({ ...FRESH, ...facts }).flatMap(([name, text]) =>
    text === undefined ? [] : [[name, text] as const],
  );
  return {
    machine: { name: "cp-1", role: "control-plane" },
    internalAddress: "10.0.0.11",
    podNetwork: "calico",
    ...over,
    specification: exampleSpecification({
      source: { packages: { repository: "https://pkgs.k8s.io/core:/stable:/v{minor}/deb/" } },
      ...over.specification,
    }),
    reading: { at: AT, facts: new Map(said) },
  };
}
