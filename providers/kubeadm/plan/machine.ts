/** A taint as Kubernetes writes it on a Node. */
export interface Taint {
  key: string;
  value?: string;
  effect: "NoSchedule" | "PreferNoSchedule" | "NoExecute";
}

export type Role = "control-plane" | "worker";

/** The taint with which each control plane registers. */
export const CONTROL_PLANE_TAINT = {
  key: "node-role.kubernetes.io/control-plane",
  effect: "NoSchedule",
} as const;

/** Everything foresail knows of one machine that is not a secret; kept in state as plain text. */
export interface Machine {
  /** Its name in the configuration, which becomes the Node's name. */
  name: string;
  role: Role;
  /** The node group it belongs to: "control-plane", or a worker pool's name. */
  group: string;
  /** Host name or IP address that SSH dials. */
  address: string;
  port: number;
  user: string;
  /** Pinned SSH host key, "ssh-ed25519 AAAA…". */
  hostKey: string;
  /** Address by which the other nodes reach it; the kubelet's node IP. */
  internalAddress: string;
  /** host:port of its API server as seen from where Pulumi runs. Only control planes serve one. */
  apiServer: string;
  labels: Record<string, string>;
  taints: Taint[];
}

/** The host that SSH connections go through, when there is one. */
export interface JumpHost {
  address: string;
  port: number;
  user: string;
  hostKey: string;
}

/** What opens the machines: always a secret as a whole. Without any key the SSH agent is asked. */
export interface SshCredentials {
  /** Private key for every machine that has none of its own, OpenSSH or PEM text. */
  privateKey?: string;
  /** Private keys by machine name. */
  privateKeys?: Record<string, string>;
  /** Private key of the jump host; the machines' key when absent. */
  jumpHostPrivateKey?: string;
}

/** The key that opens one machine; undefined: the SSH agent is asked. */
export function machineKey(credentials: SshCredentials, machine: string): string | undefined {
  return credentials.privateKeys?.[machine] ?? credentials.privateKey;
}

/**
 * Credentials that open machines which are no longer wanted, too: only what is recorded has their own keys.
 *
 * @param leaving names of those machines
 */
export function withKeysOfLeaving(
  credentials: SshCredentials,
  recorded: SshCredentials | undefined,
  leaving: readonly string[],
): SshCredentials {
  const kept = Object.entries(recorded?.privateKeys ?? {}).filter(([machine]) => leaving.includes(machine));
  if (kept.length === 0) return credentials;
  return { ...credentials, privateKeys: { ...Object.fromEntries(kept), ...credentials.privateKeys } };
}

/** The key that opens the jump host; undefined: the SSH agent is asked. */
export function jumpHostKey(credentials: SshCredentials): string | undefined {
  return credentials.jumpHostPrivateKey ?? credentials.privateKey;
}

export const CONTROL_PLANE_GROUP = "control-plane";

/** The labels that kubeadm gives the Node of a control plane; the first one says what it is. */
export const CONTROL_PLANE_LABEL = "node-role.kubernetes.io/control-plane";
export const CONTROL_PLANE_LABELS = [
  CONTROL_PLANE_LABEL,
  "node.kubernetes.io/exclude-from-external-load-balancers",
] as const;
