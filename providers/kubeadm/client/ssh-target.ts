import type { SshTarget } from "../../../lib/ssh";
import {
  type Machine,
  jumpHostKey,
  machineKey,
  type JumpHost,
  type SshCredentials,
} from "../plan/cluster/machine";

/**
 * Returns how SSH reaches one machine: its pinned key, its private key or the agent, and the jump host if there is one.
 */
export function sshTarget(
  { name, address, port, user, hostKey }: Pick<Machine, "name" | "address" | "port" | "user" | "hostKey">,
  credentials: SshCredentials,
  jumpHost?: JumpHost,
): SshTarget {
  const access = (privateKey?: string) =>
    privateKey ? { privateKey } : { agentSocket: process.env.SSH_AUTH_SOCK };
  const through = jumpHost && { name: "jump host", ...jumpHost, ...access(jumpHostKey(credentials)) };
  return {
    name,
    address,
    port,
    user,
    hostKey,
    ...access(machineKey(credentials, name)),
    ...(through ? { jumpHost: through } : {}),
  };
}
