import { SSH_PORT } from "../../lib/validation/ports";
import { DEFAULT_SSH } from "../../providers/kubeadm/plan/defaults";
import { z } from "zod";
import { hostIssue } from "../../lib/validation/addresses";
import { hostKeyIssue } from "../../lib/validation/keys";
import { userNameIssue } from "../../lib/validation/names";
import { port, rule } from "./rule";

export const JumpHost = z.strictObject({
  address: rule(z.string(), hostIssue).describe("Host name or IPv4 address of the jump host."),
  port: port().default(SSH_PORT).describe("Port of SSH on the jump host."),
  user: rule(z.string(), userNameIssue)
    .default(DEFAULT_SSH.user)
    .describe("User that logs in on the jump host."),
  hostKey: rule(
    z.string({
      error: ({ input }) =>
        input === undefined
          ? "is missing: what goes through a jump host must know its key; print it with: ssh-keyscan <address>, and compare it there"
          : undefined,
    }),
    hostKeyIssue,
  ).describe('Public host key that the jump host must show, "ssh-ed25519 AAAA…": `ssh-keyscan` prints it.'),
});

export const SshConfiguration = z.strictObject({
  user: rule(z.string(), userNameIssue)
    .default(DEFAULT_SSH.user)
    .describe("User that logs in: root, or one that may sudo without a password."),
  port: port().default(SSH_PORT).describe("Port of SSH on the machines."),
  jumpHost: JumpHost.optional().describe("Host through which every machine is reached."),
  dialTimeoutSeconds: z
    .int()
    .min(1)
    .max(600)
    .default(DEFAULT_SSH.dialTimeoutSeconds)
    .describe("Deadline of one attempt to connect, in seconds."),
});
