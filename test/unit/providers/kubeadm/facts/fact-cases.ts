import type { AskedMachine } from "../../../../../providers/kubeadm/plan/facts/machine-reading";
import { asked, AT, disks, FRESH } from "./fresh-machine";

/** What makes one row of the table fail, and no other. */
export interface FactCase {
  readonly row: string;
  readonly facts: Readonly<Record<string, string | undefined>>;
  readonly over?: Parameters<typeof asked>[1];
  readonly says: RegExp;
}

const WORKER = { machine: { name: "w-1", role: "worker" as const } };
const words = (name: string, fact: string, text: string): FactCase => ({
  row: name,
  facts: { [`refusal.${fact}`]: `cp-1: ${text}` },
  says: new RegExp(`^cp-1: ${text}$`),
});
const disk = (row: string, path: string, text: string, says: RegExp): FactCase => ({
  row,
  facts: { mounts: disks({ [path]: text }) },
  says,
});
const page = (row: string, name: string, said: string, says: RegExp): FactCase => ({
  row,
  facts: { [`page.${name}`]: said },
  says,
});

/** One case or more for each row. */
export const FACT_CASES: readonly FactCase[] = [
  words("operating system", "system", "runs rocky 9; foresail supports Debian 12"),
  words("processor", "processor", "has a riscv64 processor"),
  {
    row: "kernel version",
    facts: { kernel: "4.18.0-553.el8" },
    says: /^cp-1: its kernel is 4\.18\.0-553\.el8, .* 4\.19 or newer\. Install a newer kernel/,
  },
  { row: "init system", facts: { init: "other" }, says: /systemd does not run on it/ },
  {
    row: "version of cgroups",
    facts: { cgroup: "tmpfs" },
    says: /version 1 of cgroups, which the kubelet 1\.36\.3 refuses/,
  },
  {
    row: "controllers of cgroups",
    facts: { controllers: "cpuset cpu io pids" },
    says: /no controller memory, .* cgroup_enable=memory/,
  },
  { row: "processors", facts: { processors: "1" }, says: /has 1 processor, and kubeadm demands 2/ },
  { row: "memory", facts: { memory: "963" }, says: /has 963 MiB of memory, and kubeadm demands 1700 MiB/ },
  {
    row: "memory of a worker",
    facts: { memory: "480" },
    over: WORKER,
    says: /^w-1: it has 480 MiB of memory/,
  },
  {
    row: "swap that comes back",
    facts: { swap: "/dev/zram0 partition" },
    says: /swap \/dev\/zram0 is set up again at each boot/,
  },
  {
    row: "clock",
    facts: { clock: String(AT / 1000 - 10_800) },
    says: /^the clock of cp-1 is 3 hours behind the clock here/,
  },
  { row: "time synchronization", facts: { timeSync: "no" }, says: /nothing synchronizes its clock/ },
  {
    row: "kernel modules",
    facts: { modules: "overlay loaded\nbr_netfilter missing\nnf_conntrack loaded" },
    says: /no module br_netfilter, which every node loads/,
  },
  {
    row: "loading of kernel modules",
    facts: { modulesDisabled: "1" },
    says: /loads no modules any more, and br_netfilter is not loaded/,
  },
  {
    row: "connection tracking",
    facts: { modules: "overlay loaded\nbr_netfilter loaded\nnf_conntrack missing" },
    says: /no module nf_conntrack/,
  },
  { row: "most processes", facts: { limits: "4096" }, says: /allows 4096 processes/ },
  {
    row: "settings of others for forwarding",
    facts: { laterSettings: "/etc/sysctl.d/99-hardening.conf:net.ipv4.ip_forward = 0" },
    says: /\/etc\/sysctl\.d\/99-hardening\.conf has the line net\.ipv4\.ip_forward = 0, which takes pods their network/,
  },
  {
    row: "AppArmor",
    facts: { apparmor: "no parser" },
    says: /there is no apparmor_parser.* apt-get install apparmor/,
  },
  { row: "SELinux", facts: { selinux: "1" }, says: /enforces SELinux/ },
  { row: "automatic reboots", facts: { automaticReboots: '"true"' }, says: /reboot it on their own/ },
  words("free space for images, pods and etcd", "disks", "/var/lib/etcd has 12 MiB of free space"),
  disk(
    "free space for programs",
    "/usr",
    "312 100000 ext4 rw",
    /\/usr has 312 MiB of free space, and the packages of a node need 500 MiB/,
  ),
  disk(
    "room for the logs of steps",
    "/var/log",
    "0 100000 ext4 rw",
    /No space left on device\. Free space on that disk/,
  ),
  disk("free space for logs", "/var/log", "40 100000 ext4 rw", /\/var\/log has 40 MiB of free space/),
  disk(
    "free inodes",
    "/var/lib/containerd",
    "40960 310 ext4 rw",
    /\/var\/lib\/containerd has 310 free inodes.*find \/var\/lib\/containerd/,
  ),
  disk(
    "file systems that can be written",
    "/usr",
    "40960 2500000 ext4 ro,relatime",
    /file system of \/usr is read-only.*mount -o remount,rw \/usr/,
  ),
  disk(
    "folders of data that can be written",
    "/var/lib/kubelet",
    "40960 2500000 ext4 ro",
    /file system of \/var\/lib\/kubelet is read-only/,
  ),
  disk(
    "programs of containers",
    "/var/lib/containerd",
    "40960 2500000 ext4 rw,noexec",
    /\/var\/lib\/containerd has noexec, so that no container could start/,
  ),
  disk("programs of a node", "/opt", "40960 2500000 ext4 rw,noexec", /file system of \/opt has noexec/),
  disk(
    "programs that change their user",
    "/var/lib/containerd",
    "40960 2500000 ext4 rw,nosuid",
    /has nosuid/,
  ),
  disk("programs in /tmp", "/tmp", "2048 500000 tmpfs rw,nosuid,noexec", /\/tmp has noexec/),
  disk("kind of file system", "/var/lib/containerd", "40960 0 nfs4 rw", /\/var\/lib\/containerd is on nfs4/),
  words("files of another cluster", "foreign", "/etc/kubernetes contains files that foresail did not create"),
  words("pod network of others", "networks", "/etc/cni/net.d/05-old.conflist configures another pod network"),
  words(
    "containerd of others",
    "containerd",
    "the package containerd.io provides containerd on this machine",
  ),
  words("packages that would be removed", "installation", "the installation would remove docker-ce"),
  {
    row: "another distribution of Kubernetes",
    facts: { distributions: "k3s" },
    says: /k3s runs on it.*k3s-uninstall\.sh/,
  },
  {
    row: "another kubelet",
    facts: { kubelet: "active" },
    says: /a kubelet runs on it.*disable --now kubelet/,
  },
  {
    row: "other container runtimes",
    facts: { runtimes: "/run/crio/crio.sock" },
    says: /listens at \/run\/crio\/crio\.sock.*disable --now crio/,
  },
  {
    row: "packages on hold",
    facts: { holds: "vim\nconntrack" },
    says: /conntrack is on hold and not installed\. Run there: apt-mark unhold conntrack/,
  },
  {
    row: "packages that are installed halfway",
    facts: { halfInstalled: "halfway" },
    says: /halfway is installed halfway/,
  },
  {
    row: "locks of packages",
    facts: { packageLocks: "71 apt-get" },
    says: /the process 71 \(apt-get\) has the packages' lock/,
  },
  { row: "cloud-init", facts: { cloudInit: "error" }, says: /ended with an error/ },
  { row: "cloud-init", facts: { cloudInit: "running" }, says: /cloud-init still runs/ },
  {
    row: "packages of the distribution",
    facts: { packages: "containerd 1.7.24\nconntrack " },
    says: /no repository of it has conntrack, which a node needs/,
  },
  {
    row: "version of Kubernetes",
    facts: {
      repositoryVersions: "kubeadm 1.36.1-1.1\nkubelet 1.36.1-1.1\nkubectl 1.36.1-1.1\nkubeadm 1.36.2-1.1",
    },
    says: /no kubeadm, kubelet, kubectl 1\.36\.3; it has 1\.36\.2, 1\.36\.1\. Write one of these/,
  },
  {
    row: "bundle",
    facts: { bundle: "missing" },
    over: { specification: { source: { bundle: { path: "/opt/bundle/{version}" } } } },
    says: /there is no \/opt\/bundle\/1\.36\.3 on it/,
  },
  {
    row: "address of the node",
    facts: {},
    over: { internalAddress: "10.0.0.12" },
    says: /no device of it has the address 10\.0\.0\.12; it has 10\.0\.0\.11/,
  },
  { row: "MTU", facts: { mtu: "1200" }, says: /an MTU of 1200/ },
  {
    row: "default route",
    facts: { routes: "10.0.0.0/24 dev eth0 proto kernel scope link src 10.0.0.11" },
    says: /no default route/,
  },
  {
    row: "networks that overlap",
    facts: { routes: "default via 10.0.0.1 dev eth0\n10.100.0.0/16 dev eth1 scope link" },
    says: /device eth1 is in a network of network\.serviceSubnet.*Choose another network\.serviceSubnet/,
  },
  {
    row: "devices of an earlier pod network",
    facts: { addresses: `${FRESH["addresses"]}\n5: cni0    inet 10.244.3.1/24 scope global cni0` },
    says: /device cni0 .*ip link delete cni0/,
  },
  {
    row: "name servers",
    facts: { nameServers: "10.0.0.1\n10.0.0.2\n10.0.0.3\n10.0.0.4" },
    says: /has 4 name servers/,
  },
  {
    row: "name server of its own",
    facts: { nameServers: "127.0.0.1", resolver: "inactive" },
    says: /name server is 127\.0\.0\.1/,
  },
  {
    row: "ports of a node",
    facts: { listening: "tcp *:10250 kubelet" },
    says: /kubelet listens on its port 10250, which the kubelet needs.*sport = :10250/,
  },
  {
    row: "ports of a control plane",
    facts: { listening: "tcp 0.0.0.0:2379 etcd" },
    says: /etcd listens on its port 2379/,
  },
  {
    row: "port of the endpoint",
    facts: { listening: "tcp 127.0.0.1:8443 java" },
    says: /java listens on its port 8443, which the endpoint of the API servers needs/,
  },
  {
    row: "ports of the pod network",
    facts: { listening: "tcp 0.0.0.0:179 bird" },
    says: /bird listens on its port 179/,
  },
  {
    row: "ufw",
    facts: { ufw: "Status: active", drops: "ip filter INPUT", acceptedPorts: "22" },
    says: /ufw is active on it and no rule allows 10250, 2379, 2380, 6443/,
  },
  { row: "firewalld", facts: { firewalld: "active" }, says: /firewalld is active/ },
  {
    row: "firewall",
    facts: { drops: "inet filter input", acceptedPorts: "22\n2379-2380\n6443" },
    says: /chain inet filter input drops what comes in, and no rule accepts TCP 10250\./,
  },
  page(
    "the Kubernetes repository",
    "repository",
    "failed curl: (6) Could not resolve host: pkgs.k8s.io",
    /the Kubernetes repository can't be read from it: curl: \(6\) Could not resolve host/,
  ),
  page("the Kubernetes repository", "repository", "403", /it answers 403/),
  page("the bundle", "bundle", "404", /the bundle can't be read from it: it answers 404/),
  page("the distribution's repository", "distribution", "failed connection refused", /connection refused/),
  page(
    "the image registry",
    "registry",
    "failed curl: (7) Failed to connect",
    /the image registry can't be read/,
  ),
  page("answers in time", "registry", "timeout", /did not answer it within 4 s: registry/),
  {
    row: "way to the other machines",
    facts: { "neighbor.cp-2": "No route to host" },
    says: /does not reach cp-2 \(No route to host\)/,
  },
];

/** A second machine that differs from the first in everything that machines are told apart by. */
const OTHER = {
  machineId: "ffff2c3d4e5f60718293a4b5c6d7e8f9",
  hostName: "cp-2",
  productId: "other",
  hardwareAddresses: "52:54:00:12:34:57",
};

/** What makes one row about several machines fail, on the second. */
export const SHARED_CASES: readonly FactCase[] = (
  [
    [
      "machine-id",
      { machineId: FRESH["machineId"] },
      /^cp-2: it has the machine-id of cp-1 \(0a1b.*systemd-machine-id-setup/,
    ],
    ["product UUID", { productId: FRESH["productId"] }, /^cp-2: it has the product UUID of cp-1/],
    [
      "hardware addresses",
      { hardwareAddresses: `00:00:00:00:00:01\n${FRESH["hardwareAddresses"]}` },
      /the MAC address 52:54:00:12:34:56 of cp-1/,
    ],
    ["host name", { hostName: "cp-1" }, /host name cp-1 of cp-1/],
    [
      "clocks of etcd's members",
      { clock: String(AT / 1000 + 45) },
      /its clock differs by 45 seconds from that of cp-1/,
    ],
    ["MTU of the machines", { mtu: "1450" }, /its MTU is 1450, and that of cp-1 is 1500/],
  ] as const
).map(([row, facts, says]) => ({ row, facts: { ...OTHER, ...facts }, says }));

/** The second machine of a case about several. */
export const second = (facts: FactCase["facts"] = OTHER): AskedMachine =>
  asked(
    { addresses: FRESH["addresses"]?.replaceAll("10.0.0.11", "10.0.0.12"), ...facts },
    { machine: { name: "cp-2", role: "control-plane" }, internalAddress: "10.0.0.12" },
  );
