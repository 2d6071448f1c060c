import { once } from "node:events";
import { constants } from "node:os";
import type { ClientChannel } from "ssh2";
import { openSession, SshConnection, SshConnectionLost } from "../../lib/ssh";
import { listed, quoted } from "../../lib/text/quote";
import { sshTarget } from "../../providers/kubeadm/client/ssh-target";
import { machinesInState } from "../engine/machines-in-state";
import { exportStack } from "../engine/pulumi";
import { UsageError } from "../terminal/exit-codes";
import { onInterrupts } from "../terminal/terminal";

export interface SshOptions {
  readonly stack?: string;
  /** Name of the machine in the configuration. */
  readonly machine: string;
  /** Words of a command; none for a login shell. */
  readonly command: readonly string[];
}

/** What a person works with: this process, except in tests. */
export interface Terminal {
  readonly input: NodeJS.ReadStream;
  readonly output: NodeJS.WriteStream;
  readonly errors: NodeJS.WritableStream;
}

/** Time limit for a machine to answer. */
const SECONDS = 20;
/** Added to the number of the signal that ended a command, as shells do. */
const SIGNALLED = 128;

/**
 * Logs in to a machine of a stack, or runs a command on it, with the credentials in the stack's state. What the machine prints
 * reaches the terminal as it is: that is what a person who logs in asks for.
 *
 * @returns the exit code of the command, or of the last one in the shell
 * @throws UsageError for a machine that the stack does not have, and the SSH client's typed errors
 */
export async function sshToMachine(
  { stack: name, machine: wanted, command }: SshOptions,
  terminal: Terminal = { input: process.stdin, output: process.stdout, errors: process.stderr },
): Promise<number> {
  const { stack, exported } = await exportStack(name, "--show-secrets");
  const inState = machinesInState(exported);
  if (inState === undefined)
    throw new UsageError("Cluster API manages the machines of this stack; foresail has no login on them");
  const { machines, credentials, jumpHost } = inState;
  const machine = machines.find((one) => one.name === wanted);
  if (machine === undefined)
    throw new UsageError(
      `${quoted(wanted)} is not a machine of ${stack}; it has ${listed(machines.map((one) => one.name))}`,
    );
  const connection = await SshConnection.open(sshTarget(machine, credentials, jumpHost), {
    seconds: SECONDS,
  });
  try {
    return await attach(connection, command, terminal);
  } finally {
    connection.close();
  }
}

/**
 * Connects a person with a machine until the command or the shell there ends.
 *
 * @param command its words, which the shell of the machine reads again; none for a login shell
 * @returns its exit code
 * @throws SshConnectionLost when the connection ends before
 */
export async function attach(
  connection: SshConnection,
  command: readonly string[],
  terminal: Terminal,
): Promise<number> {
  const { input, output } = terminal;
  const isPerson = input.isTTY && output.isTTY;
  const size = { rows: output.rows, cols: output.columns, height: 0, width: 0 };
  const given = isPerson ? { term: process.env["TERM"] ?? "xterm", ...size } : undefined;
  return openSession(connection, command.join(" "), given, async (channel) => {
    const resize = () => channel.setWindow(output.rows, output.columns, 0, 0);
    if (isPerson) {
      input.setRawMode(true);
      output.on("resize", resize);
    }
    try {
      return await passedOn(channel, terminal, connection.target.name);
    } finally {
      output.off("resize", resize);
      input.pause();
      if (isPerson) input.setRawMode(false);
    }
  });
}

/**
 * Passes on what a person writes and a machine prints until the channel is closed, a signal ends foresail, or nobody reads
 * what the machine prints.
 *
 * @returns the exit code
 * @throws SshConnectionLost when the machine did not say how the command ended
 */
async function passedOn(
  channel: ClientChannel,
  { input, output, errors }: Terminal,
  machine: string,
): Promise<number> {
  let code: number | undefined;
  channel.on("exit", (ended: number | null, signal = "") => {
    code ??= ended ?? signalled(`SIG${String(signal).replace(/^SIG/, "")}`);
  });
  // a command that ends without reading its input breaks our side of the pipe; its exit code is enough
  channel.on("error", () => undefined);
  // a machine that does not answer does not confirm the end of the channel either
  const leaving = new AbortController();
  const leave = (signal: string) => {
    code ??= signalled(signal);
    channel.close();
    leaving.abort();
  };
  const forget = onInterrupts(leave);
  const unread = () => leave("SIGPIPE");
  for (const stream of [output, errors]) stream.on("error", unread);
  input.pipe(channel);
  channel.pipe(output, { end: false });
  channel.stderr.pipe(errors, { end: false });
  try {
    await once(channel, "close", { signal: leaving.signal });
  } catch (error) {
    if (!leaving.signal.aborted) throw error;
  } finally {
    forget();
    input.unpipe(channel);
  }
  if (code === undefined) throw new SshConnectionLost(machine, "the session", true, "the machine closed it");
  return code;
}

/** Returns the exit code for a signal that ended a command, as shells do. */
const signalled = (signal: string): number => SIGNALLED + (constants.signals[signal as NodeJS.Signals] ?? 0);
