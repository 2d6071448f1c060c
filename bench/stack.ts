import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { stringify } from "yaml";
import { engineEnvironment, PRELOADED_OPTIONS, preloading } from "../sandbox/engine-environment";
import { callEngine, type EngineAnswer, type EngineCall } from "../sandbox/engine-process";
import { costOf, type Cost } from "./cost";
import { projectFolder, projectName, stackFile } from "../sandbox/paths";
import type { Toolchain } from "../sandbox/toolchain";
import { parseUrn } from "../lib/pulumi/state";
import type { TimedLine } from "./profile/spans";

/** The input of a stack. */
export interface StackContent {
  /** The value of foresail:cluster. */
  readonly cluster: Readonly<Record<string, unknown>>;
  readonly privateKey: string;
}

/** Options for a preview or an update that differ from the engine's defaults. */
export interface RunOptions {
  /** How many objects the engine handles at once. */
  readonly parallel?: number;
  /** Receives each line of the engine's output as it arrives. */
  readonly onLine?: (line: string) => void;
}

/** A resource in the state. */
export interface RecordedResource {
  readonly urn: string;
  readonly id: string;
  /** The dependencies of its inputs. */
  readonly dependencies?: readonly string[];
  readonly parent?: string;
  readonly inputs: Readonly<Record<string, unknown>>;
  readonly outputs: Readonly<Record<string, unknown>>;
}

/** How the engine marks a secret in an export. */
const SECRET = "4dabf18193072939515e22adb298388d";
const NAME = "bench";
const SECONDS = 1_800;

/** One stack with a backend and a stack file of its own, in a temporary folder. */
export class BenchStack {
  private readonly folder = mkdtempSync(path.join(tmpdir(), "foresail-bench-"));
  private readonly configFile = path.join(this.folder, `Pulumi.${NAME}.yaml`);
  private readonly environment: NodeJS.ProcessEnv;

  private constructor(
    private readonly toolchain: Toolchain,
    private readonly program: string,
    options: { preloaded?: readonly string[]; variables?: Readonly<Record<string, string>> } = {},
  ) {
    const { preloaded, variables } = options;
    const state = path.join(this.folder, "state");
    mkdirSync(state);
    const { PULUMI_CONFIG_PASSPHRASE_FILE: _, ...environment } = engineEnvironment(
      process.env,
      toolchain.environment,
    );
    this.environment = {
      ...environment,
      PULUMI_BACKEND_URL: pathToFileURL(state).href,
      PULUMI_CONFIG_PASSPHRASE: "bench",
      ...(preloaded && { NODE_OPTIONS: preloading(preloaded) }),
      ...variables,
    };
  }

  /** Returns a new stack of foresail itself. @param variables additional variables of its processes */
  static async ofForesail(
    toolchain: Toolchain,
    content: StackContent,
    variables: Readonly<Record<string, string>> = {},
  ): Promise<BenchStack> {
    const stack = new BenchStack(toolchain, projectFolder, { variables });
    await stack.call(["stack", "init", NAME, "--secrets-provider", "passphrase"]);
    // the engine writes the salt into the project's own folder, and supports no other location at this step
    rmSync(stackFile(NAME), { force: true });
    await stack.configure(content);
    return stack;
  }

  /**
   * A stack of a Pulumi program in plain JavaScript that does nothing: the floor of every preview. It has none of
   * foresail's tuning, only the option `typescript: false`.
   */
  static ofEmptyProgram(toolchain: Toolchain): Promise<BenchStack> {
    return BenchStack.ofProgram(toolchain, "empty", 'require("@pulumi/pulumi");\n');
  }

  /**
   * A stack of a Pulumi program of its own in plain JavaScript.
   * @param text of the program
   * @param options additional variables for its processes; and whether they get foresail's tuning
   */
  static async ofProgram(
    toolchain: Toolchain,
    name: string,
    text: string,
    options: { variables?: Readonly<Record<string, string>>; tuned?: boolean } = {},
  ): Promise<BenchStack> {
    const folder = mkdtempSync(path.join(tmpdir(), `foresail-bench-${name}-`));
    writeFileSync(
      path.join(folder, "Pulumi.yaml"),
      `name: ${name}\nruntime: {name: nodejs, options: {typescript: false}}\n`,
    );
    writeFileSync(path.join(folder, "package.json"), `{"name":"${name}","main":"index.js"}\n`);
    writeFileSync(path.join(folder, "index.js"), text);
    symlinkSync(path.join(projectFolder, "node_modules"), path.join(folder, "node_modules"));
    const stack = new BenchStack(toolchain, folder, {
      ...(options.tuned ? {} : { preloaded: [PRELOADED_OPTIONS] }),
      ...(options.variables && { variables: options.variables }),
    });
    await stack.call(["stack", "init", NAME, "--secrets-provider", "passphrase"]);
    return stack;
  }

  /** Writes the stack's configuration; the key is encrypted. */
  async configure({ cluster, privateKey }: StackContent): Promise<void> {
    const config = {
      [`${projectName}:system`]: "ssh",
      [`${projectName}:cluster`]: cluster,
    };
    writeFileSync(this.configFile, stringify({ config }, { lineWidth: 0 }), { mode: 0o600 });
    await this.call(["config", "set", "--secret", `${projectName}:sshPrivateKey`], { input: privateKey });
  }

  /** @throws Error when there is anything to do */
  async preview(options: RunOptions = {}): Promise<Cost> {
    return costOf(() => this.run(["preview", "--expect-no-changes"], options));
  }

  /** Returns the preview of changes, resource by resource. */
  async previewDiff(): Promise<{ text: string; cost: Cost }> {
    let text = "";
    const cost = await costOf(async () => (text = (await this.call(["preview", "--diff"])).stdout));
    return { text, cost };
  }

  /** Runs `up` including its preview, as users do. */
  async up(options: RunOptions = {}): Promise<Cost> {
    return costOf(() => this.run(["up", "--yes"], options));
  }

  /** Runs `up` like {@link up}, and returns the engine's events as lines of JSON. */
  async upWithEvents(): Promise<{ lines: TimedLine[]; start: number; end: number }> {
    const lines: TimedLine[] = [];
    const start = Date.now();
    const seconds = () => (Date.now() - start) / 1000;
    await this.call(["up", "--yes", "--json"], {
      onLine: (line) => lines.push({ at: seconds(), line }),
      variables: { PULUMI_ENABLE_STREAMING_JSON_PREVIEW: "true" },
    });
    return { lines, start, end: seconds() };
  }

  async destroy(options: RunOptions = {}): Promise<Cost> {
    return costOf(() => this.run(["destroy", "--yes", "--skip-preview"], options));
  }

  async output(name: string): Promise<string> {
    return (await this.call(["stack", "output", name, "--show-secrets"])).stdout;
  }

  /** Returns all resources of the state. */
  async resources(): Promise<RecordedResource[]> {
    const { stdout } = await this.call(["stack", "export", "--show-secrets"]);
    const { deployment } = JSON.parse(stdout) as { deployment: { resources?: RecordedResource[] } };
    return deployment.resources ?? [];
  }

  /**
   * Returns inputs and outputs of a resource, secrets in plain text.
   * @throws Error when the state has none with that name
   */
  async resource(name: string): Promise<RecordedResource> {
    const found = (await this.resources()).find(({ urn }) => parseUrn(urn).name === name);
    if (found === undefined) throw new Error(`the state has no resource ${name}`);
    return { ...found, ...(plain({ inputs: found.inputs, outputs: found.outputs }) as object) };
  }

  /** Returns the inputs of a resource according to a preview. @throws Error when the preview does not contain it */
  async previewedInputs(name: string): Promise<Readonly<Record<string, unknown>>> {
    const found = (await this.previewedResources()).find(({ urn }) => parseUrn(urn).name === name);
    if (found === undefined) throw new Error(`the preview has no resource ${name}`);
    return found.inputs;
  }

  /** Returns everything that the next update leaves in the state, as far as a preview knows it. */
  async previewedResources(): Promise<RecordedResource[]> {
    const { stdout } = await this.run(["preview", "--json"], {});
    const { steps } = JSON.parse(stdout) as { steps: { newState?: RecordedResource }[] };
    return steps.flatMap(({ newState }) => newState ?? []);
  }

  /** Returns the size of the current state in kB, as the backend stores it. */
  stateSize(): number {
    const folder = path.join(this.folder, "state", ".pulumi", "stacks");
    const files = readdirSync(folder, { recursive: true, encoding: "utf8" });
    const current = files.find((file) => path.basename(file) === `${NAME}.json`);
    if (current === undefined) throw new Error(`${folder} contains no state`);
    return statSync(path.join(folder, current)).size / 1000;
  }

  /** Removes everything of it on this machine. */
  delete(): void {
    rmSync(this.folder, { recursive: true, force: true });
    if (this.program !== projectFolder) rmSync(this.program, { recursive: true, force: true });
  }

  private run(args: readonly string[], { parallel, onLine }: RunOptions): Promise<EngineAnswer> {
    return this.call(
      [...args, ...(parallel === undefined ? [] : ["--parallel", String(parallel)])],
      onLine === undefined ? {} : { onLine },
    );
  }

  private async call(
    args: readonly string[],
    {
      variables,
      ...options
    }: Pick<EngineCall, "input" | "onLine"> & { variables?: Readonly<Record<string, string>> } = {},
  ): Promise<EngineAnswer> {
    const answer = await callEngine({
      program: this.toolchain.program("pulumi"),
      args: [
        ...args,
        ...(args[0] === "stack" && args[1] === "init" ? [] : ["--stack", NAME]),
        ...(args[0] === "stack" ? [] : ["--config-file", this.configFile]),
        ...["--non-interactive", "--color", "never"],
      ],
      folder: this.program,
      environment: { ...this.environment, ...variables },
      seconds: SECONDS,
      ...options,
    });
    if (answer.exitCode !== 0)
      throw new Error(`pulumi ${args[0]} failed (${answer.exitCode}):\n${answer.stdout}\n${answer.stderr}`);
    return answer;
  }
}

/** Returns the values inside the engine's secret objects. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  if (SECRET in value && "plaintext" in value) return plain(JSON.parse(value.plaintext as string));
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, plain(field)]));
}
