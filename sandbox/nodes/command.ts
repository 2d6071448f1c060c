import { spawn } from "node:child_process";

/** A program on this machine failed or timed out. */
export class CommandError extends Error {
  override readonly name = "CommandError";

  constructor(
    readonly command: string,
    readonly exitCode: number | undefined,
    readonly stderr: string,
  ) {
    super(
      `${command} ${exitCode === undefined ? "did not end" : `ended with exit code ${exitCode}`}: ` +
        (stderr.trim().split("\n").slice(-5).join("\n") || "it said nothing"),
    );
  }
}

interface CommandOptions {
  /** default 120 */
  readonly seconds?: number;
  readonly environment?: Readonly<Record<string, string>>;
  readonly folder?: string;
}

/**
 * Runs a program on this machine until it ends.
 * @returns what it wrote to standard output
 * @throws CommandError with the end of what it wrote to standard error
 */
export function run(program: string, args: readonly string[], options: CommandOptions = {}): Promise<string> {
  const seconds = options.seconds ?? 120;
  const command = [program, ...args.slice(0, 2)].join(" ");
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      stdio: ["ignore", "pipe", "pipe"],
      cwd: options.folder,
      env: { ...process.env, ...options.environment },
    });
    const output: Buffer[] = [];
    const errors: Buffer[] = [];
    child.stdout.on("data", (chunk: Buffer) => output.push(chunk));
    child.stderr.on("data", (chunk: Buffer) => errors.push(chunk));
    const said = () => Buffer.concat(errors).toString();
    const timer = setTimeout(() => {
      child.kill("SIGKILL");
      reject(new CommandError(command, undefined, `${said()}\nkilled after ${seconds} s`));
    }, seconds * 1000);
    child.once("error", (error) => {
      clearTimeout(timer);
      reject(new CommandError(command, undefined, error.message));
    });
    child.once("close", (code) => {
      clearTimeout(timer);
      if (code === 0) resolve(Buffer.concat(output).toString());
      else reject(new CommandError(command, code ?? -1, said()));
    });
  });
}

/** Returns whether a program on this machine runs and succeeds. */
export async function succeeds(program: string, args: readonly string[], seconds = 20): Promise<boolean> {
  try {
    await run(program, args, { seconds });
    return true;
  } catch (error) {
    if (error instanceof CommandError) return false;
    throw error;
  }
}
