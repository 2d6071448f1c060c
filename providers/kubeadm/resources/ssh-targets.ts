import type { SshTarget } from "../../../lib/ssh";
import { jumpHostKey, machineKey, type JumpHost, type Machine, type SshCredentials } from "../plan/machine";

/**
 * Returns how SSH reaches one machine: its pinned key, its private key or the agent, and the jump host if there is one.
 */
export function sshTarget(
  machine: Pick<Machine, "name" | "address" | "port" | "user" | "hostKey">,
  credentials: SshCredentials,
  jumpHost?: JumpHost,
): SshTarget {
  const agentSocket = process.env.SSH_AUTH_SOCK;
  const privateKey = machineKey(credentials, machine.name);
  const jumpKey = jumpHostKey(credentials);
  return {
    name: machine.name,
    address: machine.address,
    port: machine.port,
    user: machine.user,
    hostKey: machine.hostKey,
    ...(privateKey ? { privateKey } : { agentSocket }),
    ...(jumpHost
      ? {
          jumpHost: {
            name: "jump host",
            ...jumpHost,
            ...(jumpKey ? { privateKey: jumpKey } : { agentSocket }),
          },
        }
      : {}),
  };
}
