import type { ClientChannel, PseudoTtyOptions } from "ssh2";
import type { SshConnection } from "./connection";
import { SshConnectionLost } from "./errors";

/**
 * Opens a channel on which a person works: a login shell, or a command.
 *
 * @param command "" for a login shell
 * @param terminal size and kind of the person's terminal; undefined: the machine gives none
 * @param use takes the channel at once: a short command may end before a promise has resolved
 * @throws SshConnectionLost when the connection is closed, or the machine opens no channel
 */
export function openSession<Result>(
  { target: { name }, dialed: { client } }: SshConnection,
  command: string,
  terminal: PseudoTtyOptions | undefined,
  use: (channel: ClientChannel) => Promise<Result>,
): Promise<Result> {
  const what = command === "" ? "the login shell" : "the command";
  return new Promise((resolve, reject) => {
    const notOpened = (error: Error) => reject(new SshConnectionLost(name, what, false, error.message));
    const opened = (error: Error | undefined, channel: ClientChannel) =>
      error ? notOpened(error) : resolve(use(channel));
    try {
      if (command === "") client.shell(terminal ?? false, opened);
      else client.exec(command, terminal ? { pty: terminal } : {}, opened);
    } catch (error) {
      notOpened(error as Error);
    }
  });
}
