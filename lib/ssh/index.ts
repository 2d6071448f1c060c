export { type CommandOutput, type OpenOptions, type RunOptions, scanHostKey } from "./connection";
export { SshConnection, SshPool } from "./connection";
export * from "./errors";
export { runScript, type RemoteScript } from "./script";
export { openSession } from "./session";
export type { SshHop, SshTarget, UnknownHost } from "./target";
