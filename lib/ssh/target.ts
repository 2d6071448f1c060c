export interface SshTarget {
  /** the machine's name, for messages */
  name: string;
  address: string;
  port: number;
  user: string;
  /** OpenSSH or PEM; without it, the SSH agent's keys are used */
  privateKey?: string;
  /** path of an SSH agent's socket */
  agentSocket?: string;
  /** as in a known_hosts line after the host: "ssh-ed25519 AAAA…" */
  hostKey: string;
  jumpHost?: SshHop;
}

/** A host that is reached directly. */
export type SshHop = Omit<SshTarget, "jumpHost">;

/** A machine whose host key is not known yet. */
export type UnknownHost = Omit<SshTarget, "hostKey">;

/** Returns a machine's description for messages: "w-1 (root@10.0.0.4:22 through bastion)". */
export function describeTarget(target: UnknownHost): string {
  const through = target.jumpHost ? ` through ${target.jumpHost.name}` : "";
  const user = target.user ? `${target.user}@` : "";
  return `${target.name} (${user}${target.address}:${target.port}${through})`;
}
