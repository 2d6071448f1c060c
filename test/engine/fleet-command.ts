import { type ChildProcess, spawn } from "node:child_process";
import path from "node:path";
import type { TestStack } from "./test-stack";

/** What a finished `foresail` printed. */
interface CommandAnswer {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** The command `foresail` of a compiled clone, on a stack of the tests. */
export class FleetCommand {
  constructor(
    private readonly stack: TestStack,
    private readonly environment: NodeJS.ProcessEnv = {},
  ) {}

  /** Runs to the end, whatever that is. */
  run(...args: string[]): Promise<CommandAnswer> {
    return this.start(...args).ended;
  }

  /** Starts the command in a process group of its own, as a terminal would. */
  start(...args: string[]): { child: ChildProcess; ended: Promise<CommandAnswer>; printed: () => string } {
    const { folder } = this.stack.place;
    const child = spawn(process.execPath, [path.join(folder, "bin", "cli", "cli.js"), ...args], {
      cwd: folder,
      env: { ...this.stack.environment, ...this.environment },
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
    const output = { stdout: "", stderr: "" };
    for (const name of ["stdout", "stderr"] as const)
      child[name].setEncoding("utf8").on("data", (text: string) => {
        output[name] += text;
        this.stack.printed += text;
      });
    const ended = new Promise<CommandAnswer>((resolve) =>
      child.once("close", (code) => resolve({ exitCode: code ?? 128, ...output })),
    );
    return { child, ended, printed: () => output.stdout + output.stderr };
  }
}
