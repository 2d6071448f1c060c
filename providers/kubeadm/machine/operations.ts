/** The remote steps, in the order in which they run on a machine, each with its shell file. */
const FILES = {
  "machine-reading": "facts/machine-reading",
  "machine-facts": "facts/machine-facts",
  own: "cluster/own",
  prepare: "cluster/prepare",
  facts: "cluster/facts",
  reboot: "cluster/reboot",
  initialized: "membership/initialized",
  init: "cluster/init",
  "configure-cluster": "configuration/configure-cluster",
  "restart-kube-proxy": "configuration/restart-kube-proxy",
  "configuration-differences": "configuration/configuration-differences",
  "admin-kubeconfig": "cluster/admin-kubeconfig",
  "control-plane-secrets": "membership/control-plane-secrets",
  "join-control-plane": "membership/join",
  "join-worker": "membership/join",
  register: "adoption/register",
  "forget-membership": "membership/forget-membership",
  endpoint: "endpoint/endpoint",
  "node-agent": "rollout/node-agent",
  "agent-log": "rollout/agent-log",
  "etcd-members": "membership/etcd-members",
  "etcd-alarms": "membership/etcd-alarms",
  "etcd-remove": "membership/etcd-remove",
  "leave-control-plane": "membership/leave-control-plane",
  reset: "cluster/reset",
  "encryption-status": "encryption/encryption-status",
  "encryption-key": "encryption/encryption-key",
  "encryption-keys": "encryption/encryption-keys",
  "encryption-stale": "encryption/encryption-stale",
  drift: "drift/drift",
  "drift-accept": "drift/drift-accept",
  "endpoint-facts": "endpoint/endpoint-facts",
  "move-endpoint": "endpoint/move-endpoint",
  "rewritten-settings": "adoption/rewritten-settings",
  "package-offer": "rollout/package-offer",
  "adoption-facts": "adoption/adoption-facts",
  "adoption-access": "adoption/adoption-access",
  "adoption-settings": "adoption/adoption-settings",
  adopt: "adoption/adopt",
  release: "adoption/release",
} as const;

/** A remote step. */
export type Operation = keyof typeof FILES;

/** Returns the shell file of a step, as shellFile takes it. */
export const stepFile = (operation: Operation): string => FILES[operation];
