import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { stringify } from "yaml";
import { engineEnvironment, preloading } from "../sandbox/engine-environment";
import { callEngine, type EngineAnswer, type EngineCall } from "../sandbox/engine-process";
import { costOf, type Cost } from "./cost";
import { projectFolder, projectName, stackFile } from "../sandbox/places";
import type { Toolchain } from "../sandbox/toolchain";
import { parseUrn } from "../lib/pulumi/state";

/** What a stack is made of. */
export interface StackContent {
  /** The value of foresail:cluster. */
  readonly cluster: Readonly<Record<string, unknown>>;
  readonly privateKey: string;
}

/** How a stack is previewed or updated, when not as the engine does by itself. */
export interface RunOptions {
  /** How many objects the engine works on at once. */
  readonly parallel?: number;
  /** Takes each line of the engine's output as it comes. */
  readonly onLine?: (line: string) => void;
}

/** A resource as the state has it. */
export interface RecordedResource {
  readonly urn: string;
  readonly id: string;
  /** Of what its inputs were made. */
  readonly dependencies?: readonly string[];
  readonly parent?: string;
  readonly inputs: Readonly<Record<string, unknown>>;
  readonly outputs: Readonly<Record<string, unknown>>;
}

/** How the engine marks a secret in an export. */
const SECRET = "4dabf18193072939515e22adb298388d";
const NAME = "bench";
const SECONDS = 1_800;
const OBEYED_OPTIONS = path.join(__dirname, "..", "sandbox", "obeyed-options.js");

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

  /**
   * A stack of foresail itself, with nothing made yet.
   */
  static async ofForesail(toolchain: Toolchain, content: StackContent): Promise<BenchStack> {
    const stack = new BenchStack(toolchain, projectFolder);
    await stack.call(["stack", "init", NAME, "--secrets-provider", "passphrase"]);
    // the engine writes the salt into the project's own folder, and knows no other place at this step
    rmSync(stackFile(NAME), { force: true });
    await stack.configure(content);
    return stack;
  }

  /**
   * A stack of a Pulumi program in plain JavaScript that does nothing: the floor of every preview. None of foresail's
   * tuning is in it, only the option `typescript: false` is obeyed.
   */
  static ofEmptyProgram(toolchain: Toolchain): Promise<BenchStack> {
    return BenchStack.ofProgram(toolchain, "empty", 'require("@pulumi/pulumi");\n');
  }

  /**
   * A stack of a Pulumi program of its own in plain JavaScript.
   * @param text of the program
   * @param options variables that its processes get besides; and whether they get foresail's tuning
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
      ...(options.tuned ? {} : { preloaded: [OBEYED_OPTIONS] }),
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

  /** What a person sees of changes that are to come, resource by resource. */
  async previewDiff(): Promise<{ text: string; cost: Cost }> {
    let text = "";
    const cost = await costOf(async () => (text = (await this.call(["preview", "--diff"])).stdout));
    return { text, cost };
  }

  /** With the preview before it, as a person runs it. */
  async up(options: RunOptions = {}): Promise<Cost> {
    return costOf(() => this.run(["up", "--yes"], options));
  }

  async destroy(options: RunOptions = {}): Promise<Cost> {
    return costOf(() => this.run(["destroy", "--yes", "--skip-preview"], options));
  }

  async output(name: string): Promise<string> {
    return (await this.call(["stack", "output", name, "--show-secrets"])).stdout;
  }

  /** All that the state has. */
  async resources(): Promise<RecordedResource[]> {
    const { stdout } = await this.call(["stack", "export", "--show-secrets"]);
    const { deployment } = JSON.parse(stdout) as { deployment: { resources?: RecordedResource[] } };
    return deployment.resources ?? [];
  }

  /** Inputs and outputs of a resource, secrets in plain. @throws Error when the state has none of that name */
  async resource(name: string): Promise<RecordedResource> {
    const found = (await this.resources()).find(({ urn }) => parseUrn(urn).name === name);
    if (found === undefined) throw new Error(`the state has no resource ${name}`);
    return { ...found, ...(plain({ inputs: found.inputs, outputs: found.outputs }) as object) };
  }

  /** What a resource would be made of, by a preview. @throws Error when it is not in it */
  async previewedInputs(name: string): Promise<Readonly<Record<string, unknown>>> {
    const found = (await this.previewedResources()).find(({ urn }) => parseUrn(urn).name === name);
    if (found === undefined) throw new Error(`the preview has no resource ${name}`);
    return found.inputs;
  }

  /** Everything that the next update leaves in the state, as far as a preview knows it. */
  async previewedResources(): Promise<RecordedResource[]> {
    const { stdout } = await this.run(["preview", "--json"], {});
    const { steps } = JSON.parse(stdout) as { steps: { newState?: RecordedResource }[] };
    return steps.flatMap(({ newState }) => newState ?? []);
  }

  /** Size of the current state in kB, as the backend keeps it. */
  stateSize(): number {
    const folder = path.join(this.folder, "state", ".pulumi", "stacks");
    const files = readdirSync(folder, { recursive: true, encoding: "utf8" });
    const current = files.find((file) => path.basename(file) === `${NAME}.json`);
    if (current === undefined) throw new Error(`${folder} holds no state`);
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
    options: Pick<EngineCall, "input" | "onLine"> = {},
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
      environment: this.environment,
      seconds: SECONDS,
      ...options,
    });
    if (answer.exitCode !== 0)
      throw new Error(`pulumi ${args[0]} failed (${answer.exitCode}):\n${answer.stdout}\n${answer.stderr}`);
    return answer;
  }
}

/** The values behind the marks of secrets. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  if (SECRET in value && "plaintext" in value) return plain(JSON.parse(value.plaintext as string));
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, plain(field)]));
}
