/** The remote steps with a shell file of their name, by folder. */
const STEPS = {
  facts: ["machine-reading", "machine-facts"],
  cluster: ["own", "prepare", "facts", "reboot", "init", "admin-kubeconfig", "reset"],
  membership: [
    "initialized",
    "control-plane-secrets",
    "forget-membership",
    "etcd-members",
    "etcd-alarms",
    "etcd-remove",
    "leave-control-plane",
  ],
  configuration: ["configure-cluster", "restart-kube-proxy", "configuration-differences", "tried-kube-proxy"],
  adoption: [
    "register",
    "rewritten-settings",
    "adoption-facts",
    "adoption-access",
    "adoption-settings",
    "adopt",
    "release",
  ],
  endpoint: ["endpoint", "endpoint-facts", "move-endpoint"],
  rollout: ["node-agent", "agent-log", "start-agent", "package-offer"],
  backup: [
    "etcd-snapshot",
    "restore-facts",
    "fence-control-plane",
    "restore-control-plane",
    "finish-restore",
  ],
  encryption: ["encryption-status", "encryption-key", "encryption-keys", "encryption-stale"],
  certificates: [
    "certificate-ends",
    "renew-certificates",
    "await-static-pods",
    "kubelet-request",
    "kubelet-certificate",
  ],
  drift: ["drift", "drift-accept"],
} as const;

/** A remote step. */
export type Operation = (typeof STEPS)[keyof typeof STEPS][number] | "join-control-plane" | "join-worker";

/** Returns the shell file of a step, as shellFile takes it. */
export function stepFile(operation: Operation): string {
  const found = Object.entries(STEPS).find(([, steps]) => (steps as readonly string[]).includes(operation));
  return found ? `${found[0]}/${operation}` : "membership/join";
}
