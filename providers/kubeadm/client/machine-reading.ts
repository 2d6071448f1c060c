import { messageOf } from "../../../lib/error-message";
import { runScript, scanHostKey, SshConnection, type UnknownHost } from "../../../lib/ssh";
import { machineReadingScript, parseMachineReading, type ReadFor } from "../machine/facts/machine-reading";
import type { MachineReading, Unanswered } from "../plan/facts/machine-reading";

/**
 * Reads a machine that may become a node, and pins its host key for this once. Writes nothing on it.
 *
 * @param seconds until the machine is connected, and then until it has answered
 * @returns what it said, or why it did not answer
 */
export async function readMachine(
  host: UnknownHost,
  wanted: ReadFor,
  seconds: { connect: number; read: number },
): Promise<MachineReading | Unanswered> {
  try {
    const hostKey = await scanHostKey(host, seconds.connect);
    const connection = await SshConnection.open({ ...host, hostKey }, { seconds: seconds.connect });
    try {
      const at = Date.now();
      const script = { ...machineReadingScript(wanted), seconds: seconds.read };
      return parseMachineReading((await runScript(connection, script)).stdout, at);
    } finally {
      connection.close();
    }
  } catch (error) {
    return unanswered(error);
  }
}

/** Returns why a machine did not answer, and whether any run would fail on it for that. */
export async function unanswered(error: unknown): Promise<Unanswered> {
  const errors = await import("../../../lib/ssh/errors.js");
  const kinds = [
    ["key", [errors.HostKeyMismatch, errors.NoCommonAlgorithm]],
    ["login", [errors.AuthenticationRefused, errors.TooManyKeys]],
    ["account", [errors.AccountRefused]],
  ] as const;
  // another shell or person may have the key
  if (error instanceof errors.NothingToLogInWith) return { unread: messageOf(error) };
  const kind = kinds.find(([, classes]) => classes.some((each) => error instanceof each))?.[0];
  const isRoot = error instanceof errors.SshCommandError && !error.hasBegun;
  const refused = isRoot ? ("sudo" as const) : kind;
  return { unread: messageOf(error), ...(refused === undefined ? {} : { refused }) };
}
