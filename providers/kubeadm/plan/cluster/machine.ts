import { isDeepStrictEqual } from "node:util";

/** A taint as on a Node of Kubernetes. */
export interface Taint {
  key: string;
  value?: string;
  effect: "NoSchedule" | "PreferNoSchedule" | "NoExecute";
}

export type Role = "control-plane" | "worker";

/** The taint that each control plane registers with. */
export const CONTROL_PLANE_TAINT = {
  key: "node-role.kubernetes.io/control-plane",
  effect: "NoSchedule",
} as const;

/** All settings of one machine that are not secret; kept in state as plain text. */
export interface Machine {
  /** Name in the configuration, which becomes the Node's name. */
  name: string;
  role: Role;
  /** Its node group: "control-plane", or the name of a worker pool. */
  group: string;
  /** Host name or IP address for SSH. */
  address: string;
  port: number;
  user: string;
  /** Pinned SSH host key, "ssh-ed25519 AAAA…". */
  hostKey: string;
  /** Address by which the other nodes reach the machine; the kubelet's node IP. */
  internalAddress: string;
  /** host:port of its API server as seen from where Pulumi runs. Only control planes have one. */
  apiServer: string;
  labels: Record<string, string>;
  taints: Taint[];
}

/** Returns the control planes among machines, in their order. */
export const controlPlanesOf = <Each extends Pick<Machine, "role">>(machines: readonly Each[]): Each[] =>
  machines.filter(({ role }) => role === "control-plane");

/** The jump host of SSH connections, if there is one. */
export type JumpHost = Pick<Machine, "address" | "port" | "user" | "hostKey">;

/** SSH credentials of the machines, always secret as a whole. Without any key, the SSH agent is used. */
export interface SshCredentials {
  /** Private key for every machine without a key of its own, as OpenSSH or PEM text. */
  privateKey?: string;
  /** Private keys by machine name. */
  privateKeys?: Record<string, string>;
  /** Private key of the jump host. @default the machines' key */
  jumpHostPrivateKey?: string;
}

interface WithCredentials {
  credentials?: SshCredentials;
}

/**
 * Returns a resource's outputs without the SSH credentials, for a resource that only its own run connects: the outputs of
 * a resource that is not updated never change, so that a rotated key would stay in the state. The inputs, which every
 * run replaces, contain the current one.
 */
export function withoutCredentials<Outputs extends WithCredentials>(outputs: Outputs): Outputs {
  const { credentials: _, ...others } = outputs;
  return others as Outputs;
}

/** Returns whether the outputs in state of an older release contain a rotated key, which an update removes. */
export const hasRotatedKey = (olds: WithCredentials, news: WithCredentials): boolean =>
  olds.credentials !== undefined && !isDeepStrictEqual(olds.credentials, news.credentials);

/** Returns the private key for one machine, or undefined to use the SSH agent. */
export const machineKey = ({ privateKeys, privateKey }: SshCredentials, machine: string) =>
  privateKeys?.[machine] ?? privateKey;

/** Returns credentials with the own keys of leaving machines, which are only in the `recorded` ones of the state. */
export function withKeysOfLeaving(
  credentials: SshCredentials,
  recorded: SshCredentials | undefined,
  leaving: readonly string[],
): SshCredentials {
  const kept = Object.entries(recorded?.privateKeys ?? {}).filter(([machine]) => leaving.includes(machine));
  if (kept.length === 0) return credentials;
  return { ...credentials, privateKeys: { ...Object.fromEntries(kept), ...credentials.privateKeys } };
}

/** Returns the private key for the jump host, or undefined to use the SSH agent. */
export const jumpHostKey = ({ jumpHostPrivateKey, privateKey }: SshCredentials) =>
  jumpHostPrivateKey ?? privateKey;

export const CONTROL_PLANE_GROUP = "control-plane";

/** Marks the Node of a control plane. */
export const CONTROL_PLANE_LABEL = "node-role.kubernetes.io/control-plane";
/** Labels that kubeadm sets on the Node of a control plane. */
export const CONTROL_PLANE_LABELS = {
  [CONTROL_PLANE_LABEL]: "",
  "node.kubernetes.io/exclude-from-external-load-balancers": "",
};
