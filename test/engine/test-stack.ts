import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { parse, stringify } from "yaml";
import { clearDeadLocks } from "../../cli/engine/killed-runs";
import { countChanges } from "../../sandbox/engine-output";
import { engineEnvironment } from "../../sandbox/engine-environment";
import { callEngine, type EngineAnswer } from "../../sandbox/engine-process";
import type { Toolchain } from "../../sandbox/toolchain";
import { assertKnownSteps } from "../support/steps";
import { parsePreview } from "../../cli/review/preview";
import { parseUrn } from "../../lib/pulumi/state";

/** One resource of a preview. */
export interface PreviewStep {
  readonly op: string;
  /** Last part of the URN. */
  readonly name: string;
  readonly type: string;
  readonly inputs: Record<string, unknown>;
}

/** A resource in an exported stack. */
export interface StateResource {
  readonly urn: string;
  readonly type: string;
  readonly inputs?: Record<string, unknown>;
  readonly outputs?: Record<string, unknown>;
}

export interface ExportedState {
  readonly deployment: {
    readonly resources?: StateResource[];
    readonly pending_operations?: unknown[];
    readonly secrets_providers?: unknown;
  };
}

/** Where a stack of the tests lives. */
interface StackRef {
  /** The Pulumi project. */
  readonly folder: string;
  readonly project: string;
  readonly stack: string;
  readonly passphrase?: string;
  /** Where its state is; default: a folder of its own in the project. */
  readonly stateFolder?: string;
  /** Deadline of one command; default: 120, and 240 for `destroy`. */
  readonly seconds?: number;
}

const PASSPHRASE = "a passphrase for tests";
const SECONDS = 120;
/** The garbage collector of a real kube-controller-manager pauses for up to two minutes when kinds come and go. */
const DESTROY_SECONDS = 240;
/** Of a command that did not end, in the error. */
const LAST_LINES = 30;

/** A stack with a file backend of its own, on which the real engine works. */
export class TestStack {
  /** Everything the engine printed, for the search for secrets. */
  printed = "";
  readonly environment: NodeJS.ProcessEnv;

  constructor(
    readonly place: StackRef,
    private readonly toolchain: Toolchain,
  ) {
    mkdirSync(this.stateFolder, { recursive: true });
    this.environment = {
      ...engineEnvironment(process.env, toolchain.environment),
      PULUMI_CONFIG_PASSPHRASE_FILE: undefined,
      SSH_AUTH_SOCK: undefined,
      PULUMI_BACKEND_URL: pathToFileURL(this.stateFolder).href,
      PULUMI_CONFIG_PASSPHRASE: place.passphrase ?? PASSPHRASE,
    };
  }

  get stateFolder(): string {
    return this.place.stateFolder ?? path.join(this.place.folder, "backend");
  }

  get stackFile(): string {
    return path.join(this.place.folder, "stacks", "config", `Pulumi.${this.place.stack}.yaml`);
  }

  /** Makes the stack. */
  async create(): Promise<this> {
    await this.must(["stack", "init", this.place.stack, "--secrets-provider", "passphrase"], {
      ofStack: false,
    });
    return this;
  }

  /** Writes plain values of the configuration; keys without the project's name. What is not named stays. */
  configure(values: Record<string, unknown>): void {
    const document = parse(readFileSync(this.stackFile, "utf8")) as { config?: Record<string, unknown> };
    const named = Object.entries(values).map(([key, value]) => [`${this.place.project}:${key}`, value]);
    document.config = { ...document.config, ...(Object.fromEntries(named) as Record<string, unknown>) };
    writeFileSync(this.stackFile, stringify(document));
  }

  async setSecret(key: string, value: string): Promise<void> {
    await this.must(["config", "set", "--secret", `${this.place.project}:${key}`], { input: value });
  }

  /** @returns the steps that change something */
  async preview(): Promise<PreviewStep[]> {
    const { stdout } = await this.must(["preview", "--json"]);
    return parsePreview(stdout)
      .steps.filter(({ op }) => op !== "same")
      .map(({ op, urn, newState }) => {
        const { name, type } = parseUrn(urn);
        if (type.includes("foresail:"))
          assertKnownSteps(type.split(":").at(-1) ?? "", newState?.inputs?.["steps"]);
        return { op, name, type, inputs: newState?.inputs ?? {} };
      });
  }

  /**
   * @param onLine takes each line of the engine's output as it comes
   * @returns how many resources were created, updated, …
   */
  async up(onLine?: (line: string) => void): Promise<Record<string, number>> {
    const { stdout } = await this.must(["up", "--yes", "--skip-preview"], { ...(onLine && { onLine }) });
    return countChanges(stdout);
  }

  /** Runs `up`. @returns how often the engine wrote the state */
  async upCountingWrites(): Promise<number> {
    this.environment.PULUMI_RETAIN_CHECKPOINTS = "true";
    await this.up().finally(() => delete this.environment.PULUMI_RETAIN_CHECKPOINTS);
    const files = readdirSync(this.stateFolder, { recursive: true, encoding: "utf8" });
    return files.filter((file) => /\.json\.\d+$/.test(file)).length;
  }

  async refresh(): Promise<Record<string, number>> {
    return countChanges((await this.must(["refresh", "--yes", "--skip-preview"])).stdout);
  }

  async destroy(): Promise<EngineAnswer> {
    return this.must(["destroy", "--yes", "--skip-preview"]);
  }

  async outputs(): Promise<Record<string, unknown>> {
    // not through `call`: what it prints is secret
    const { stdout } = await callEngine(this.callOf(["stack", "output", "--json", "--show-secrets"], {}));
    return JSON.parse(stdout) as Record<string, unknown>;
  }

  async export(): Promise<ExportedState> {
    return JSON.parse((await this.must(["stack", "export"])).stdout) as ExportedState;
  }

  /** Clears the lock of a killed engine, as `foresail` does. @throws StackLockedError */
  clearDeadLocks(): Promise<string[]> {
    return clearDeadLocks({ stateFolder: this.stateFolder, ...this.place });
  }

  /** Runs one command to its end, whatever that is. @throws Error with its last lines when it does not end in time */
  async call(args: readonly string[], options: CallOptions = {}): Promise<EngineAnswer> {
    const lines: string[] = [];
    const onLine = (line: string) => {
      lines.push(line);
      options.onLine?.(line);
    };
    try {
      const answer = await callEngine(this.callOf(args, { ...options, onLine }));
      this.printed += answer.stdout + answer.stderr;
      return answer;
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      error.message += `; the last lines that it printed:\n${lines.slice(-LAST_LINES).join("\n")}`;
      throw error;
    }
  }

  /** Starts `up` in a process group of its own, for tests that kill it. Its output goes to a file. */
  startUp(extra: readonly string[] = []): { child: ChildProcess; output: () => string } {
    return this.start(["up", "--yes", "--skip-preview", ...extra]);
  }

  /** Starts any command in the same way. */
  start(command: readonly string[]): { child: ChildProcess; output: () => string } {
    const file = path.join(this.place.folder, "up.log");
    const log = openSync(file, "w", 0o600);
    const { program, args, folder, environment } = this.callOf(command, {});
    const child = spawn(program, [...args], {
      cwd: folder,
      env: environment,
      stdio: ["ignore", log, log],
      detached: true,
    });
    closeSync(log);
    return { child, output: () => readFileSync(file, "utf8") };
  }

  private async must(args: readonly string[], options: CallOptions = {}): Promise<EngineAnswer> {
    const answer = await this.call(args, options);
    if (answer.exitCode !== 0)
      throw new Error(
        `pulumi ${args.slice(0, 2).join(" ")} ended with ${answer.exitCode}:\n${answer.stdout}\n${answer.stderr}`,
      );
    return answer;
  }

  private callOf(args: readonly string[], { input, onLine, ofStack = true }: CallOptions) {
    return {
      program: this.toolchain.program("pulumi"),
      args: [
        ...args,
        ...(ofStack ? ["--stack", this.place.stack] : []),
        "--non-interactive",
        "--color",
        "never",
      ],
      folder: this.place.folder,
      environment: this.environment,
      seconds: this.place.seconds ?? (args[0] === "destroy" ? DESTROY_SECONDS : SECONDS),
      ...(input === undefined ? {} : { input }),
      ...(onLine === undefined ? {} : { onLine }),
    };
  }
}

interface CallOptions {
  input?: string;
  onLine?: (line: string) => void;
  ofStack?: boolean;
}
