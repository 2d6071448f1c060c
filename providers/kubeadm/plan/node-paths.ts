/** Where foresail keeps its own files on a machine. All are root-only. */
export const NODE_PATHS = {
  /** Names the cluster and machine that foresail made here; without it foresail touches no Kubernetes files. */
  marker: "/etc/foresail/machine",
  /** Exists once kubeadm init or join has ended well. */
  member: "/var/lib/foresail/member",
  /** The folder of etcd's data, noted before a reset takes the manifest that names it. */
  etcdData: "/var/lib/foresail/etcd-data",
  /** Every remote script holds this lock, so that no step ever runs twice at once. */
  lock: "/run/foresail.lock",
  /** Temporary files of the step that runs, in memory; removed when it ends. */
  scratch: "/run/foresail-step",
  /** kubeadm's backups of upgrades, with a copy of etcd's data on a control plane. */
  backups: "/etc/kubernetes/tmp",
  logs: "/var/log/foresail",
  haproxy: "/etc/foresail/haproxy.cfg",
  /** What the node agent is told; see providers/kubeadm/machine/node-agent/paths.ts for the rest of it. */
  agentConfiguration: "/etc/foresail/node-agent.conf",
  agentUnit: "/etc/systemd/system/foresail-node-agent.service",
  /** The installers of the versions that the node agent may choose from, and what it remembers. */
  agent: "/var/lib/foresail/agent",
  encryption: "/etc/kubernetes/foresail/encryption.yaml",
} as const;
