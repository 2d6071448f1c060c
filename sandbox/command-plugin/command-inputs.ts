/** The inputs that the local and the remote command share, in plain text, and the error of a failed command. Pure. */
import type { CommandOutput, Logging } from "./captured-output.js";
import { containsSecret, reveal, type Properties } from "./wire.js";

export interface CommandInputs {
  readonly create?: string;
  readonly update?: string;
  readonly delete?: string;
  readonly stdin?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly logging?: Logging;
  readonly addPreviousOutputInEnv?: boolean;
}

export type Operation = "create" | "update" | "delete";

/** A command to run: its text, and whether the program marked that text as secret. */
export interface Chosen {
  readonly text: string;
  readonly secret: boolean;
}

/** The command of an operation; `update` falls back to `create`; undefined: there is nothing to run. */
export function chooseCommand(operation: Operation, properties: Properties): Chosen | undefined {
  const given =
    operation === "update" ? (properties["update"] ?? properties["create"]) : properties[operation];
  if (given === undefined || given === null) return undefined;
  return { text: reveal(given) as string, secret: containsSecret(given) };
}

/** Returns variables with the output of the previous run, if there is any. */
export function previousOutput(inputs: CommandInputs, previous: CommandOutput): Record<string, string> {
  if (inputs.addPreviousOutputInEnv === false) return {};
  return {
    ...(previous.stdout === "" ? {} : { PULUMI_COMMAND_STDOUT: previous.stdout }),
    ...(previous.stderr === "" ? {} : { PULUMI_COMMAND_STDERR: previous.stderr }),
  };
}

/** Returns the error of a failed command: how it ended, which command, and its complete output. */
export function commandFailure(how: string, command: Chosen, printed: string): Error {
  const shown = command.secret ? "[secret command]" : JSON.stringify(command.text);
  return new Error(`${how}: running ${shown}:\n${printed}`);
}
