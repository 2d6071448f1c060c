import type { Readable, Writable } from "node:stream";
import { answerMarker, printMarker } from "./answer";
import type { CommandOutput, SshConnection } from "./connection";

export interface RemoteScript {
  /** the operation in one word, such as "join-worker" */
  operation: string;
  machine: string;
  /** bash */
  text: string;
  /** secret bytes that the script reads from its standard input */
  data?: string;
  /** more of it, which follows */
  input?: Readable;
  /** takes the answer as it comes: as `RunOptions.sink` */
  sink?: Writable;
  seconds: number;
  signal?: AbortSignal;
}

/**
 * Runs a bash script as root over standard input, so that neither it nor its data is in any process's arguments.
 *
 * The script is one compound command, which bash reads to its closing brace before it starts; the rest of the input
 * remains for the script's own `read` and `cat`. It ends with `exit`, so bash never runs unread data as commands. Before
 * anything else it prints a marker, so whatever the login shell has printed is not part of its answer.
 *
 * @throws what `SshConnection.run` throws
 */
export function runScript(connection: SshConnection, script: RemoteScript): Promise<CommandOutput> {
  const { operation, machine, data, input, sink, seconds, signal } = script;
  return connection.run(connection.target.user === "root" ? "bash -s" : "sudo -n bash -s", {
    name: `${operation} ${machine}`,
    stdin: wrapScript(operation, machine, script.text) + (data ?? ""),
    ...(input === undefined ? {} : { input }),
    ...(sink === undefined ? {} : { sink }),
    marker: answerMarker(operation, machine),
    seconds,
    signal,
  });
}

/**
 * Returns the script as sent over standard input, before its data: in braces, with a line that names the operation, then
 * the command that prints its marker.
 */
export function wrapScript(operation: string, machine: string, text: string): string {
  const title = `# foresail: ${operation} ${machine}\n`;
  const body = text.startsWith(title) ? text.slice(title.length) : text;
  return `{\n${title}${printMarker(answerMarker(operation, machine))}\n${body.trimEnd()}\nexit\n}\n`;
}
