import path from "node:path";
import { PARALLEL_ARGUMENTS } from "../cli/engine/pulumi";
import { judgePendingOperations, type ExportedStack } from "../lib/pulumi/state";
import { clearDeadLocks, mayHavePending } from "../cli/engine/killed-runs";
import { engineEnvironment, ensureState } from "./engine-environment";
import { changesNothing, countChanges, readableLines } from "./engine-output";
import { callEngine, type EngineAnswer } from "./engine-process";
import { projectFolder, projectName, stateFolder } from "./paths";
import type { Toolchain } from "./toolchain";

const SECONDS = { short: 120, long: 3_600 };

/** Thrown when a Pulumi command failed; the message contains its last lines. */
export class EngineError extends Error {
  override readonly name = "EngineError";

  constructor(command: string, stack: string, exitCode: number, words: string) {
    super(
      `pulumi ${command} of the stack ${stack} failed (exit code ${exitCode})${words === "" ? "" : `:\n${words}`}`,
    );
  }
}

/** The Pulumi engine on one of the sandbox's stacks, with the sandbox's own state, home and passphrase. */
export class Engine {
  private constructor(
    readonly stack: string,
    private readonly program: string,
    readonly environment: NodeJS.ProcessEnv,
    private readonly say: (line: string) => void,
  ) {}

  /**
   * Opens a stack, or creates a new one. Clears the lock of a dead process and the pending operations of a killed run,
   * and reports both.
   * @param variables that the stack needs besides the sandbox's own
   * @throws StackLockedError while another process works on it
   */
  static async open(
    stack: string,
    toolchain: Toolchain,
    say = (line: string) => console.log(line),
    variables: Readonly<Record<string, string>> = {},
  ): Promise<Engine> {
    await ensureState();
    const environment = { ...engineEnvironment(process.env, toolchain.environment), ...variables };
    const engine = new Engine(stack, toolchain.program("pulumi"), environment, say);
    const recorded = { stateFolder, project: projectName, stack };
    for (const line of await clearDeadLocks(recorded)) say(line);
    await engine.call(["stack", "select", "--create", stack, "--secrets-provider", "passphrase"], {
      ofStack: false,
    });
    if (await mayHavePending(recorded)) await engine.forgetPendingOperations();
    return engine;
  }

  /** Sets a secret of the stack's configuration unless it has this value already; passes it through standard input. */
  async setSecret(key: string, value: string): Promise<void> {
    const current = await this.call(["config", "get", `${projectName}:${key}`], { mayFail: true });
    if (current.exitCode === 0 && current.stdout.trimEnd() === value.trimEnd()) return;
    await this.call(["config", "set", "--secret", `${projectName}:${key}`], { input: value });
  }

  /**
   * Previews, with readable output.
   * @returns whether an update would change nothing, neither a resource nor an output
   * @throws EngineError
   */
  async preview(): Promise<boolean> {
    return changesNothing(await this.show(["preview"]));
  }

  /**
   * Previews, then applies the changes, with readable progress output.
   * @param options.isPreviewed whether the preview was shown already
   * @returns how many resources were created, updated, …, unchanged
   * @throws EngineError
   */
  async up({ isPreviewed = false } = {}): Promise<Record<string, number>> {
    return countChanges(await this.show(["up", "--yes", `--skip-preview=${isPreviewed}`]));
  }

  /** @throws EngineError */
  async destroy(): Promise<void> {
    await this.show(["destroy", "--yes", "--skip-preview"]);
  }

  /** Returns the stack's outputs with secrets in plain text: never print them. */
  async outputs(): Promise<Record<string, unknown>> {
    const { stdout } = await this.call(["stack", "output", "--json", "--show-secrets"]);
    return JSON.parse(stdout) as Record<string, unknown>;
  }

  /** Returns the stack's state, with encrypted secrets. */
  async export(): Promise<ExportedStack> {
    return JSON.parse((await this.call(["stack", "export"])).stdout) as ExportedStack;
  }

  /**
   * Removes the stack and its configuration file.
   * @param force also with resources in its state: only for machines that no longer exist
   */
  async remove({ force = false } = {}): Promise<void> {
    await this.call(["stack", "rm", "--yes", ...(force ? ["--force"] : [])]);
  }

  private async forgetPendingOperations(): Promise<void> {
    const exported = await this.export();
    const { resumable, others } = judgePendingOperations(exported);
    if (resumable.length + others.length === 0) return;
    const words = `a run of ${this.stack} was killed in the middle of: ${[...resumable, ...others].join(", ")}`;
    if (others.length > 0) {
      this.say(`${words}; run pulumi refresh to update the state`);
      return;
    }
    // the import drops all pending operations, so it runs only when all of them can be resumed
    await this.call(["stack", "import"], { input: JSON.stringify(exported) });
    this.say(`${words}; it is resumed now`);
  }

  /** Runs a command and shows its output. @returns all of it */
  private async show(args: readonly string[]): Promise<string> {
    const readable = readableLines();
    const answer = await this.call(
      [...args, ...PARALLEL_ARGUMENTS, "--suppress-progress", "--suppress-permalink=true"],
      {
        seconds: SECONDS.long,
        onLine: (line) => {
          const words = readable(line);
          if (words !== undefined) this.say(words);
        },
      },
    );
    return answer.stdout;
  }

  private async call(
    args: readonly string[],
    options: {
      input?: string;
      seconds?: number;
      onLine?: (line: string) => void;
      mayFail?: boolean;
      ofStack?: boolean;
    } = {},
  ): Promise<EngineAnswer> {
    const ofStack = options.ofStack ?? true;
    const answer = await callEngine({
      program: this.program,
      args: [...args, ...(ofStack ? ["--stack", this.stack] : []), "--non-interactive", "--color", "never"],
      folder: path.resolve(projectFolder),
      environment: this.environment,
      seconds: options.seconds ?? SECONDS.short,
      ...(options.input === undefined ? {} : { input: options.input }),
      ...(options.onLine === undefined ? {} : { onLine: options.onLine }),
    });
    if (answer.exitCode !== 0 && options.mayFail !== true) {
      // lines that were shown already are not repeated
      const words = options.onLine === undefined ? answer.stderr.trim() || answer.stdout.trim() : "";
      throw new EngineError(
        args
          .slice(0, 2)
          .filter((word) => !word.startsWith("-"))
          .join(" "),
        this.stack,
        answer.exitCode,
        words,
      );
    }
    return answer;
  }
}
