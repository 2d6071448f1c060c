import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";
import type { TestStack } from "./test-stack";

/** What a finished `foresail` printed. */
interface CommandAnswer {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A `foresail` that runs. */
interface StartedCommand {
  readonly child: ChildProcess;
  readonly ended: Promise<CommandAnswer>;
  readonly printed: () => string;
}

/** What seals the runs of the fleets in tests. */
export const FLEET_KEY = "f1".repeat(16);

/** The command `foresail` of a compiled clone or of an installed package, on a stack of the tests. */
export class FleetCommand {
  constructor(
    private readonly stack: TestStack,
    private readonly environment: NodeJS.ProcessEnv = {},
    /** What precedes the command, such as that of a network namespace. */
    private readonly within: readonly string[] = [],
  ) {}

  /** Runs to the end, whatever that is. */
  run(...args: string[]): Promise<CommandAnswer> {
    return this.start(...args).ended;
  }

  /** Runs on a terminal, on which a person answers the first question. */
  async runAnswered(answer: string, ...args: string[]): Promise<CommandAnswer> {
    const terminal = ["sh", "-c", 'script --quiet --return --command "$*" /dev/null', "sh"];
    const { child, ended } = this.spawn([...terminal, ...this.commandOf(args)], "pipe");
    let asked = "";
    child.stdout?.on("data", (text: string) => {
      if (!asked.includes("[y/N]") && (asked += text).includes("[y/N]")) child.stdin?.write(`${answer}\n`);
    });
    return ended;
  }

  /** Starts the command in a process group of its own, as a terminal would. */
  start(...args: string[]): StartedCommand {
    return this.spawn(this.commandOf(args), "ignore");
  }

  private commandOf(args: readonly string[]): string[] {
    const { folder } = this.stack.place;
    const places = [folder, path.join(folder, "node_modules", "foresail")];
    const files = places.map((place) => path.join(place, "bin", "cli", "cli.js"));
    return [process.execPath, files.find((file) => existsSync(file)) ?? "", ...args];
  }

  private spawn(command: readonly string[], input: "ignore" | "pipe"): StartedCommand {
    const [program = "", ...args] = [...this.within, ...command];
    const child = spawn(program, args, {
      cwd: this.stack.place.folder,
      env: { ...this.stack.environment, FORESAIL_FLEET_KEY: FLEET_KEY, ...this.environment },
      stdio: [input, "pipe", "pipe"],
      detached: true,
    });
    const output = { stdout: "", stderr: "" };
    for (const name of ["stdout", "stderr"] as const)
      child[name]?.setEncoding("utf8").on("data", (text: string) => {
        output[name] += text;
        this.stack.printed += text;
      });
    const ended = new Promise<CommandAnswer>((resolve) =>
      child.once("close", (code) => resolve({ exitCode: code ?? 128, ...output })),
    );
    return { child, ended, printed: () => output.stdout + output.stderr };
  }
}
