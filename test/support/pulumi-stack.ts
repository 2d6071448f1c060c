import { spawn, type ChildProcess } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import path from "node:path";
import { clearDeadLocks } from "../../cli/engine/killed-runs";
import { engineEnvironment, ensureState } from "../../sandbox/engine-environment";
import { callEngine } from "../../sandbox/engine-process";
import { projectFolder, projectName, sandboxFolder, stateFolder } from "../../sandbox/paths";
import { deleteStackFile, writeStackFile } from "../../sandbox/systems/stack-file";
import type { Toolchain } from "../../sandbox/toolchain";
import { changesOf, stepsOf, type PreviewedChange } from "../cluster/previewed-steps";

const CALL_SECONDS = 600;

/** How a Pulumi command ended, and all its output. */
export interface Said {
  readonly exitCode: number;
  readonly words: string;
}

/** A stack of any system in the sandbox's own state, driven by the Pulumi command line as a user drives it. */
export class PulumiStack {
  private readonly environment: NodeJS.ProcessEnv;

  private constructor(
    private readonly name: string,
    private readonly toolchain: Toolchain,
    /** Variables of the user, such as SSH_AUTH_SOCK; undefined removes one. */
    variables: NodeJS.ProcessEnv,
  ) {
    this.environment = { ...engineEnvironment(process.env, toolchain.environment), ...variables };
  }

  /**
   * Makes the stack, after what a killed run of this test left of it was forgotten.
   * @param keep continues with what an earlier run left, for work on a test
   */
  static async create(
    name: string,
    toolchain: Toolchain,
    variables: NodeJS.ProcessEnv,
    { keep = false } = {},
  ): Promise<PulumiStack> {
    await ensureState();
    const stack = new PulumiStack(name, toolchain, variables);
    if (keep && (await stack.call(["stack"])).exitCode === 0) return stack;
    await stack.remove();
    await stack.must(["stack", "init", "--secrets-provider", "passphrase"]);
    return stack;
  }

  /**
   * Sets the whole configuration; a secret that stays the same is encrypted again.
   * @param values such as `system` and `cluster`, without the project's name
   */
  async configure(
    values: Readonly<Record<string, unknown>>,
    secrets: Readonly<Record<string, string>> = {},
  ): Promise<void> {
    await writeStackFile(this.name, { values, secrets });
    for (const [key, value] of Object.entries(secrets))
      await this.must(["config", "set", "--secret", `${projectName}:${key}`], value);
  }

  /** @param args of the command line besides, such as `--target` */
  up(...args: string[]): Promise<Said> {
    return this.call(["up", "--yes", "--skip-preview", "--suppress-progress", ...args]);
  }

  /** Starts `pulumi up` in a process group of its own, to be killed. */
  startUp(): { child: ChildProcess; output: () => string } {
    const file = path.join(sandboxFolder, `${this.name}-up.log`);
    const log = openSync(file, "w", 0o600);
    const child = spawn(
      this.toolchain.program("pulumi"),
      this.argumentsOf(["up", "--yes", "--skip-preview", "--suppress-progress"]),
      { cwd: projectFolder, env: this.environment, stdio: ["ignore", log, log], detached: true },
    );
    closeSync(log);
    return { child, output: () => readFileSync(file, "utf8") };
  }

  /** Clears the lock that a killed run left. @returns a message about what was cleared */
  clearDeadLocks(): Promise<string[]> {
    return clearDeadLocks({ stateFolder, project: projectName, stack: this.name });
  }

  preview(...args: string[]): Promise<Said> {
    return this.call(["preview", "--suppress-progress", ...args]);
  }

  /** Everything a preview would change, and the steps of each resource. @throws Error when the preview fails */
  async previewed(
    ...args: string[]
  ): Promise<{ changes: PreviewedChange[]; steps: Record<string, string[]> }> {
    const json = await this.must(["preview", "--json", ...args]);
    return { changes: changesOf(json), steps: stepsOf(json) };
  }

  refresh(): Promise<Said> {
    return this.call(["refresh", "--yes", "--skip-preview", "--suppress-progress"]);
  }

  destroy(): Promise<Said> {
    return this.call(["destroy", "--yes", "--skip-preview", "--suppress-progress"]);
  }

  async kubeconfig(): Promise<string> {
    return (await this.must(["stack", "output", "kubeconfig", "--show-secrets"])).trim();
  }

  /** All outputs, secrets in plain text. */
  async outputs(): Promise<Record<string, unknown>> {
    return JSON.parse(await this.must(["stack", "output", "--json", "--show-secrets"])) as Record<
      string,
      unknown
    >;
  }

  /** The state as it is stored. */
  export(): Promise<string> {
    return this.must(["stack", "export"]);
  }

  /** Drops the stack and its state: the test itself deletes the machines. */
  async remove(): Promise<void> {
    await this.call(["cancel", "--yes"]);
    await this.call(["stack", "rm", "--yes", "--force"]);
    await deleteStackFile(this.name);
  }

  private async must(args: readonly string[], input?: string): Promise<string> {
    const { exitCode, words, stdout } = await this.call(args, input);
    if (exitCode !== 0) throw new Error(`pulumi ${args.slice(0, 2).join(" ")} failed:\n${words}`);
    return stdout;
  }

  private async call(args: readonly string[], input?: string): Promise<Said & { stdout: string }> {
    const { exitCode, stdout, stderr } = await callEngine({
      program: this.toolchain.program("pulumi"),
      args: this.argumentsOf(args),
      folder: projectFolder,
      environment: this.environment,
      seconds: CALL_SECONDS,
      ...(input === undefined ? {} : { input }),
    });
    return { exitCode, stdout, words: `${stdout}\n${stderr}` };
  }

  private argumentsOf(args: readonly string[]): string[] {
    const stack = args[1] === "init" ? [this.name] : ["--stack", this.name];
    return [...args, ...stack, "--non-interactive", "--color", "never"];
  }
}
