/**
 * What a cluster on container nodes needs that one on machines does not, as fields of `foresail:cluster`. The kernel,
 * its limits and its disks are this machine's, shared by all nodes.
 */
export const containerNodeSettings = {
  kubeadm: {
    clusterConfiguration: {
      // a sandbox may lose its last second at a power cut of the machine that it runs on
      etcd: { local: { extraArgs: [{ name: "unsafe-no-fsync", value: "true" }] } },
    },
  },
  kubelet: {
    // systemd in a container can't be asked for slices on a hybrid cgroup v1 hierarchy
    cgroupDriver: "cgroupfs",
    failCgroupV1: false,
    failSwapOn: false,
    // the root file system is an overlay, whose use the kubelet can't measure
    localStorageCapacityIsolation: false,
    // a node sees the free space of the whole machine
    evictionHard: {
      "memory.available": "0%",
      "nodefs.available": "0%",
      "nodefs.inodesFree": "0%",
      "imagefs.available": "0%",
    },
    imageGCHighThresholdPercent: 100,
  },
  // a container may not raise the limits of connection tracking
  kubeProxy: { conntrack: { maxPerCore: 0 } },
  // what kubeadm asks of the kernel and the machine is this machine's, and not a node's to change
  ignorePreflightErrors: [
    "SystemVerification",
    "Swap",
    "NumCPU",
    "Mem",
    "FileContent--proc-sys-net-bridge-bridge-nf-call-iptables",
  ],
};
