/** Paths of foresail's own files on a machine. Only root can access them. */
export const NODE_PATHS = {
  /** Names the cluster and machine that foresail created here. Without it, foresail does not touch Kubernetes files. */
  marker: "/etc/foresail/machine",
  /** Exists after kubeadm init or join has succeeded. */
  member: "/var/lib/foresail/member",
  /** Contains the version of the settings with which the machine was prepared. */
  prepared: "/var/lib/foresail/prepared",
  /** How the machine was before foresail claimed it. */
  before: "/var/lib/foresail/before",
  /** Contains the path of etcd's data, recorded before a reset removes the manifest that names it. */
  etcdData: "/var/lib/foresail/etcd-data",
  /** Lock of every remote script, so that no two steps run at once. */
  lock: "/run/foresail.lock",
  /** Temporary files of the running step, in memory; removed when it ends. */
  scratch: "/run/foresail-step",
  /** A snapshot of etcd, until the step that takes or restores it ends. */
  snapshot: "/var/lib/foresail/snapshot",
  /** The files of a snapshot, until the step that restores it ends: keys are nowhere but below /etc/kubernetes. */
  restoring: "/etc/kubernetes/.foresail-restore",
  /** Where the image of etcd is mounted while its programs are copied. */
  etcdImage: "/run/foresail-etcd",
  /** Names the snapshot that was restored, until the restore is finished. */
  restored: "/var/lib/foresail/restored",
  /** kubeadm's backups from upgrades, which include etcd's data on a control plane. */
  backups: "/etc/kubernetes/tmp",
  logs: "/var/log/foresail",
  haproxy: "/etc/foresail/haproxy.cfg",
  /** Unit that gives the machine the address by which others reach it. */
  ownAddressUnit: "/etc/systemd/system/foresail-own-address.service",
  agentProgram: "/usr/local/lib/foresail/node-agent",
  agentConfiguration: "/etc/foresail/node-agent.conf",
  agentUnit: "/etc/systemd/system/foresail-node-agent.service",
  /** The node agent's own state. */
  agent: "/var/lib/foresail/agent",
  /** Installers of the versions that the node agent can choose from: <software>/<version>. */
  agentInstallers: "/var/lib/foresail/agent/install",
  /** Verified programs of the versions that the node agent can choose from: <version>/<program>. */
  agentStaged: "/var/lib/foresail/agent/staged",
  /** Exists while the machine's software meets the requirements of a node. */
  agentInitialized: "/var/lib/foresail/agent/initialized",
  /** An adopted machine's own patches for kubeadm, which its administrator writes. */
  ownPatches: "/etc/kubernetes/patches",
  encryption: "/etc/kubernetes/foresail/encryption.yaml",
} as const;
