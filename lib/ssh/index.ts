export { type CommandOutput, type OpenOptions, type RunOptions, SshConnection } from "./connection";
export {
  AuthenticationRefused,
  UnreadableKey,
  HostKeyMismatch,
  SshCommandError,
  SshCommandTimeout,
  SshConnectionLost,
  SshUnreachable,
} from "./errors";
export { scanHostKey } from "./first-contact";
export { SshPool } from "./pool";
export { runScript, type Script } from "./script";
export type { SshHop, SshTarget, UnknownHost } from "./target";
