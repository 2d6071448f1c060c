/** Runs the command of a `command:remote:Command` over SSH. */
import type { Client, ClientChannel } from "ssh2";
import { CapturedOutput, type CommandOutput } from "./captured-output.js";
import { commandFailure, previousOutput, type Chosen, type CommandInputs } from "./command-inputs.js";
import { withConnection, type Connection } from "./connection.js";
import type { ResourceLog } from "./engine-log.js";
import { Session } from "./session.js";

interface RemoteCommandInputs extends CommandInputs {
  readonly connection: Connection;
}

/**
 * Connects, sets the environment, runs the command and waits until it ends.
 * @throws Error with exit status or signal, command and output; the reason why the connection failed; that it was canceled
 */
export function runRemoteCommand(
  command: Chosen,
  inputs: RemoteCommandInputs,
  previous: CommandOutput,
  log: ResourceLog,
  signal: AbortSignal,
): Promise<CommandOutput> {
  return withConnection(inputs.connection, log, signal, async (client) => {
    const session = await Session.open(client);
    await setEnvironment(session, inputs, previous, log);
    return runIn(client, await session.start(command.text), command, inputs, log, signal);
  });
}

// The server may reject variables (sshd's AcceptEnv). Those that the program sets are required; the output of the
// previous run is optional.
async function setEnvironment(
  session: Session,
  inputs: RemoteCommandInputs,
  previous: CommandOutput,
  log: ResourceLog,
): Promise<void> {
  const hint = "the SSH server must allow it (AcceptEnv), or put it before the command: NAME=value command";
  for (const [name, value] of Object.entries(inputs.environment ?? {})) {
    if (await session.setEnvironment(name, value)) continue;
    throw new Error(
      `could not set environment variable "${name}": refused by ${inputs.connection.host}; ${hint}`,
    );
  }
  for (const [name, value] of Object.entries(previousOutput(inputs, previous))) {
    if (await session.setEnvironment(name, value)) continue;
    log.warning(`the SSH server refused environment variable "${name}"; ${hint}`);
  }
}

function runIn(
  client: Client,
  channel: ClientChannel,
  command: Chosen,
  inputs: RemoteCommandInputs,
  log: ResourceLog,
  signal: AbortSignal,
): Promise<CommandOutput> {
  const output = new CapturedOutput(inputs.logging, (line) => log.status(line));
  output.read(channel, channel.stderr);
  return new Promise((resolve, reject) => {
    let lost = "";
    client.once("error", (error) => (lost = `: ${error.message}`));
    channel.once("close", (code?: number | null, killedBy?: string) => {
      if (code === 0) resolve(output.result());
      else reject(commandFailure(ending(code, killedBy) + lost, command, output.interleaved()));
    });
    const cancel = (): void => {
      channel.close();
      const words = `canceled while the command ran; what has begun on ${inputs.connection.host} goes on there`;
      reject(commandFailure(words, command, output.interleaved()));
    };
    signal.addEventListener("abort", cancel, { once: true });
    channel.once("close", () => signal.removeEventListener("abort", cancel));
    // A command may end without reading its input.
    channel.on("error", () => undefined);
    channel.end(inputs.stdin ?? "");
  });
}

function ending(code: number | null | undefined, killedBy: string | undefined): string {
  if (typeof code === "number") return `remote command ended with exit status ${String(code)}`;
  if (killedBy !== undefined) return `remote command was ended by signal ${killedBy}`;
  return "the connection ended before the remote command's exit status arrived";
}
