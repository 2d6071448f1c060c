/** Runs the command of a `command:local:Command` on this machine. */
import { spawn } from "node:child_process";
import { CapturedOutput, type CommandOutput } from "./captured-output.js";
import { commandFailure, previousOutput, type Chosen, type CommandInputs } from "./command-inputs.js";
import type { ResourceLog } from "./engine-log.js";

interface LocalCommandInputs extends CommandInputs {
  /** Program and arguments that get the command as their last argument; default: /bin/sh -c. */
  readonly interpreter?: readonly string[];
  readonly dir?: string;
}

/**
 * Runs the command and waits until it ends.
 * @param signal kills the command
 * @throws Error with exit status or signal, command and output; or the reason why it did not start
 */
export function runLocalCommand(
  command: Chosen,
  inputs: LocalCommandInputs,
  previous: CommandOutput,
  log: ResourceLog,
  signal: AbortSignal,
): Promise<CommandOutput> {
  const given = inputs.interpreter ?? [];
  const [program = "/bin/sh", ...words] = given.length > 0 ? given : ["/bin/sh", "-c"];
  const child = spawn(program, [...words, command.text], {
    cwd: inputs.dir ?? process.cwd(),
    env: { ...process.env, ...inputs.environment, ...previousOutput(inputs, previous) },
    killSignal: "SIGKILL",
    signal,
  });
  const output = new CapturedOutput(inputs.logging, (line) => log.status(line));
  output.read(child.stdout, child.stderr);
  // A command may end without reading its input.
  child.stdin.on("error", () => undefined);
  child.stdin.end(inputs.stdin ?? "");
  return new Promise((resolve, reject) => {
    child.once("error", (error) => reject(commandFailure(error.message, command, output.interleaved())));
    child.once("close", (code, killedBy) => {
      if (code === 0) return resolve(output.result());
      const how =
        code === null ? `command was ended by signal ${String(killedBy)}` : `exit status ${String(code)}`;
      reject(commandFailure(how, command, output.interleaved()));
    });
  });
}
