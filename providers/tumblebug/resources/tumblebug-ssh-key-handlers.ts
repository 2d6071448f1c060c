import type { SshKey, DesiredSshKey } from "../plan/model";
import type { Handlers } from "../../../lib/pulumi/handler-types";
import { objectHandlers } from "./object-handlers";
import type { TumblebugSshKeyInputs as Inputs } from "./tumblebug-ssh-key";

export const handlers: Handlers = objectHandlers<Inputs, DesiredSshKey, SshKey>({
  what: "sshKey",
  reason: "CreateSSHKeyFailedReason",
  of: ({ sshKeys }) => sshKeys,
  wish: ({ name, connection, user }, description) => ({ name, connection, user, description }),
  describe: ({ user }) => `for ${user}`,
  outputs: ({ privateKey, publicKey, fingerprint }) => ({ privateKey, publicKey, fingerprint }),
  mismatch: ({ connection }, found) =>
    found.connection !== connection
      ? `belongs to the connection ${found.connection}`
      : found.privateKey === ""
        ? "the server does not give its private half"
        : undefined,
  fixed: ["user"],
});
