/**
 * Settings of `foresail:cluster` that only container nodes need: all nodes share the kernel, limits and disks of this
 * machine.
 */
export const containerNodeSettings = {
  kubeadm: {
    clusterConfiguration: {
      // a sandbox may lose its last second of data when its host loses power
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
  // kubeadm's kernel and machine checks apply to the host, and a node can't change it
  ignorePreflightErrors: [
    "SystemVerification",
    "Swap",
    "NumCPU",
    "Mem",
    "FileContent--proc-sys-net-bridge-bridge-nf-call-iptables",
  ],
};
