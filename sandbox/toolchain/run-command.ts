import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

/** A command that ended with an error, could not be started or did not end in time. */
export class CommandFailed extends Error {
  constructor(
    message: string,
    /** ENOENT when the program is missing. */
    readonly code: string | undefined,
  ) {
    super(message);
  }
}

const TAIL_LINES = 15;

/**
 * Runs a command to its end.
 * @param line called with every line of standard error
 * @param minutes after which it is killed
 * @param silentMinutes likewise, without a line; absent: no such limit
 * @returns its standard output
 * @throws CommandFailed with the last lines of standard error
 */
export async function runCommand(
  command: string,
  args: readonly string[],
  options: {
    cwd?: string;
    env?: NodeJS.ProcessEnv;
    minutes: number;
    silentMinutes?: number;
    line?: (text: string) => void;
  },
): Promise<string> {
  const { minutes, silentMinutes } = options;
  const child = spawn(command, args, {
    cwd: options.cwd,
    env: options.env ?? process.env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  // spawn's own `timeout` keeps node running when the program does not exist
  let ended: string | undefined;
  const end = (why: string) => {
    ended = why;
    child.kill("SIGKILL");
  };
  const deadline = setTimeout(() => end(`did not end within ${minutes} minutes`), minutes * 60_000);
  const silence =
    silentMinutes === undefined
      ? undefined
      : setTimeout(() => end(`printed nothing for ${silentMinutes} minutes`), silentMinutes * 60_000);
  const output: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => output.push(chunk));
  const tail: string[] = [];
  createInterface(child.stderr).on("line", (text) => {
    silence?.refresh();
    tail.push(text);
    if (tail.length > TAIL_LINES) tail.shift();
    options.line?.(text);
  });
  const forget = () => [deadline, silence].forEach(clearTimeout);
  return new Promise((resolve, reject) => {
    child.on("error", (error: NodeJS.ErrnoException) => {
      forget();
      reject(new CommandFailed(`${command}: ${error.message}`, error.code));
    });
    child.on("close", (status, signal) => {
      forget();
      if (status === 0) return resolve(Buffer.concat(output).toString("utf8"));
      const how = ended ?? (signal === null ? `ended with status ${status}` : `was killed (${signal})`);
      const shown = [command, ...args].join(" ");
      reject(new CommandFailed(`${shown} ${how}:\n${tail.join("\n")}`, undefined));
    });
  });
}
