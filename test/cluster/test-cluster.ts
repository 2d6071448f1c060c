import { readPreview, type Preview } from "../../cli/review/preview";
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import type { KubernetesClient } from "../../lib/kubernetes";
import { SshConnection, type SshTarget } from "../../lib/ssh";
import { checkCluster } from "../../sandbox/check";
import { Engine } from "../../sandbox/engine";
import { callEngine, type EngineAnswer } from "../../sandbox/engine-process";
import {
  containerNodeSettings,
  NodeFleet,
  type NodeKind,
  nodeKeyFile,
  type SandboxNode,
} from "../../sandbox/nodes";
import { projectFolder, sandboxFolder } from "../../sandbox/paths";
import type { Reporter } from "../../sandbox/progress";
import { setUp, TEST_NEEDS } from "../../sandbox/set-up";
import { recordedResources } from "../../sandbox/state-file";
import { deleteStackFile, writeStackFile } from "../../sandbox/systems/stack-file";
import { clusterConfiguration, KUBERNETES_VERSION } from "../../sandbox/systems/ssh-configuration";
import type { PlannedMachine } from "../../sandbox/systems/cluster-size";
import { stackOf } from "../../sandbox/systems/system";
import type { Toolchain } from "../../sandbox/toolchain";
import { changesOf, stepsOf, type PreviewedChange } from "./previewed-steps";
import { withApi } from "./with-api";

const UP_SECONDS = 1800;
const COMMAND_SECONDS = 120;
const ASK_SECONDS = 30;

/** The reporter of tests: prints nothing. */
export const silent: Reporter = { step: (_title, work) => work(() => undefined) };

/** Contents of the cluster's configuration. */
export interface Desired {
  readonly machines: readonly string[];
  readonly lost?: readonly string[];
  /** Worker → its pool, unless it is the default one. */
  readonly pools?: Readonly<Record<string, string>>;
  /** Machine → kinds of dirt that it has from its beginning. */
  readonly dirt?: Readonly<Record<string, readonly string[]>>;
  /** Machine → the container node that it is, unless that has the same name. */
  readonly on?: Readonly<Record<string, string>>;
  /** Machine → its own labels. */
  readonly labels?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** More fields of `foresail:cluster`. */
  readonly fields?: Readonly<Record<string, unknown>>;
}

/** A real cluster of a test: container nodes of its own fleet, and a stack of the sandbox's state. */
export class TestCluster {
  /** Everything that the engine printed so far, both streams. */
  output = "";
  readonly fleet: NodeFleet;

  /** What the state has since the last command that could change it. */
  private savedKubeconfig?: Promise<{ text: string; file: string }> | undefined;

  private constructor(
    readonly name: string,
    readonly toolchain: Toolchain,
    private engine: Engine,
    private readonly versions: readonly string[],
    private readonly kind: NodeKind | undefined,
  ) {
    this.fleet = new NodeFleet(name);
  }

  /**
   * Opens the cluster of a name.
   * @param keep continues with what an earlier run left, for work on a test; otherwise everything starts over
   * @param versions of Kubernetes, whose programs and images its machines have from their beginning
   * @param kind what its machines are made of; default: that of the sandbox
   */
  static async open(
    name: string,
    {
      keep = false,
      versions = [KUBERNETES_VERSION],
      kind,
    }: { keep?: boolean; versions?: readonly string[]; kind?: NodeKind } = {},
  ): Promise<TestCluster> {
    const toolchain = await setUp({ ...TEST_NEEDS, kubernetes: versions }, silent);
    const stack = stackOf({ name });
    if (!keep) {
      await new NodeFleet(name).deleteAll();
      if ((await recordedResources(stack)) >= 0)
        await (await Engine.open(stack, toolchain, () => undefined)).remove({ force: true });
      await deleteStackFile(stack);
    }
    const engine = await Engine.open(stack, toolchain, () => undefined);
    return new TestCluster(name, toolchain, engine, versions, kind);
  }

  get stack(): string {
    return this.engine.stack;
  }

  /** Opens the stack again, as a user's next command would: the lock of a dead engine is cleared. */
  async reopen(): Promise<void> {
    this.savedKubeconfig = undefined;
    this.engine = await Engine.open(this.stack, this.toolchain, (line) => (this.output += `${line}\n`));
  }

  /** Starts the machines (control planes are cp-*, workers are w-*) and writes the configuration. */
  async configure(desired: Desired): Promise<void> {
    const planned = desired.machines.map((name): PlannedMachine => ({
      name,
      role: name.startsWith("cp-") ? "control-plane" : "worker",
      pool: desired.pools?.[name],
      labels: desired.labels?.[name],
    }));
    const nodeOf = (machine: string) => desired.on?.[machine] ?? machine;
    const existing = await this.fleet.list();
    // a machine that is powered off stays off: the test decides
    const missing = [...new Set(desired.machines.map(nodeOf))].filter(
      (name) => !existing.some((node) => node.name === name),
    );
    await this.fleet.ensure(
      missing.map((name) => ({
        name,
        bundles: this.versions,
        dirt: desired.dirt?.[name] ?? [],
        ...(this.kind === undefined ? {} : { variant: { kind: this.kind } }),
      })),
      silent,
    );
    const nodes = await this.fleet.list();
    const privateKey = await readFile(nodeKeyFile, "utf8");
    const machines = planned.map((machine) => ({ ...machine, node: find(nodes, nodeOf(machine.name)) }));
    const cluster = clusterConfiguration(
      { machines, lost: desired.lost ?? [], privateKey },
      containerNodeSettings,
    );
    await writeStackFile(this.stack, {
      values: { system: "ssh", cluster: { ...cluster, name: this.name, ...desired.fields } },
      secrets: { sshPrivateKey: privateKey },
    });
    await this.engine.setSecret("sshPrivateKey", privateKey);
  }

  /** Everything a preview would change, and the steps of each resource. */
  async preview(): Promise<{
    changes: PreviewedChange[];
    steps: Record<string, string[]>;
    notes: readonly string[];
    resources: Preview["changes"];
  }> {
    const answer = await this.pulumi(["preview", "--json"]);
    if (answer.exitCode !== 0) throw new Error(`pulumi preview failed:\n${answer.stdout}\n${answer.stderr}`);
    const { notes, changes: resources } = readPreview(answer.stdout);
    return { changes: changesOf(answer.stdout), steps: stepsOf(answer.stdout), notes, resources };
  }

  /**
   * Runs `pulumi up`.
   * @returns its output
   * @throws Error with its output when it fails
   */
  async up(): Promise<string> {
    return this.change(["up", "--yes", "--skip-preview"]);
  }

  /** Runs `pulumi up`, which has to fail. @returns its output */
  async failingUp(): Promise<string> {
    return this.failing(["up", "--yes", "--skip-preview"]);
  }

  /** Runs `pulumi up` with its preview, which has to refuse it. @returns its output */
  async refusedUp(): Promise<string> {
    const output = await this.failing(["up", "--yes"]);
    if (output.includes("\nUpdating (")) throw new Error(`the preview did not refuse it:\n${output}`);
    return output;
  }

  /** Runs `pulumi preview`, which has to fail. @returns its output */
  async failingPreview(): Promise<string> {
    return this.failing(["preview"]);
  }

  /** Runs `pulumi destroy`. @returns its output @throws Error with its output when it fails */
  async destroy(): Promise<string> {
    return this.change(["destroy", "--yes", "--skip-preview"]);
  }

  /** Runs a command of foresail's own command line on the stack. What follows "--" stays at the end. */
  async foresail(...args: string[]): Promise<EngineAnswer> {
    const { folder, environment } = this.upCommand();
    const end = args.includes("--") ? args.indexOf("--") : args.length;
    const answer = await callEngine({
      program: process.execPath,
      args: [
        path.join(projectFolder, "bin/cli/cli.js"),
        ...[...args.slice(0, end), "--stack", this.stack, ...args.slice(end)],
      ],
      folder,
      environment,
      seconds: COMMAND_SECONDS,
    });
    this.output += answer.stdout + answer.stderr;
    return answer;
  }

  /** The command line by which `up` runs, for tests that kill it. */
  upCommand(): { program: string; args: string[]; folder: string; environment: NodeJS.ProcessEnv } {
    return {
      program: this.toolchain.program("pulumi"),
      args: this.args(["up", "--yes", "--skip-preview"]),
      folder: projectFolder,
      environment: this.engine.environment,
    };
  }

  /** The state as stored in the backend, secrets encrypted. */
  async exportedState(): Promise<string> {
    return JSON.stringify(await this.engine.export());
  }

  /** The administrator's kubeconfig, and the path of a file with the same (0600). */
  kubeconfig(): Promise<{ text: string; file: string }> {
    return (this.savedKubeconfig ??= this.readKubeconfig());
  }

  private async readKubeconfig(): Promise<{ text: string; file: string }> {
    const { kubeconfig } = await this.engine.outputs();
    if (typeof kubeconfig !== "string") throw new Error("the stack has no output kubeconfig");
    const file = path.join(sandboxFolder, `kubeconfig-${this.name}`);
    await writeFile(file, kubeconfig, { mode: 0o600 });
    return { text: kubeconfig, file };
  }

  /** Works with the cluster's API, at whichever control plane answers. */
  async withApi<T>(work: (client: KubernetesClient) => Promise<T>): Promise<T> {
    const { text } = await this.kubeconfig();
    return withApi(text, work);
  }

  /** Checks that pods run on these nodes, and that all of them reach each other. @throws Error that says what fails */
  async check(nodes: readonly string[]): Promise<void> {
    const { text, file } = await this.kubeconfig();
    await checkCluster(silent, {
      kubeconfig: text,
      kubeconfigFile: file,
      kubectl: this.toolchain.kubernetes(KUBERNETES_VERSION).kubectl,
      nodes,
      machines: await Promise.all(nodes.map((name) => this.target(name))),
    });
  }

  /** How SSH reaches a machine. */
  async target(name: string): Promise<SshTarget> {
    const { address, sshPort, user, hostKey } = find(await this.fleet.list(), name);
    return { name, address, port: sshPort, user, hostKey, privateKey: await readFile(nodeKeyFile, "utf8") };
  }

  /** Runs a script on a machine as root. @returns what it printed */
  async onMachine(name: string, script: string, seconds = ASK_SECONDS): Promise<string> {
    const connection = await SshConnection.open(await this.target(name), { seconds: ASK_SECONDS });
    try {
      const answer = await connection.run("sudo -n bash -s", { name: "ask", stdin: script, seconds });
      return answer.stdout;
    } finally {
      connection.close();
    }
  }

  /** The machines that run, by name. */
  async running(): Promise<string[]> {
    return (await this.fleet.list()).filter(({ running }) => running).map(({ name }) => name);
  }

  /** Drops the stack, whatever its state, and removes the machines. */
  async remove(): Promise<void> {
    await this.fleet.deleteAll();
    await this.engine.remove({ force: true });
    await deleteStackFile(this.stack);
  }

  /** Drops everything, and opens an empty stack of the same name. */
  async startOver(): Promise<void> {
    await this.remove();
    await this.reopen();
  }

  private async failing(args: string[]): Promise<string> {
    const answer = await this.pulumi(args);
    if (answer.exitCode === 0) throw new Error(`pulumi ${args[0]} succeeded unexpectedly:\n${answer.stdout}`);
    return answer.stdout + answer.stderr;
  }

  private async change(args: string[]): Promise<string> {
    const answer = await this.pulumi(args);
    const output = answer.stdout + answer.stderr;
    if (answer.exitCode !== 0)
      throw new Error(`pulumi ${args[0]} failed (exit code ${answer.exitCode}):\n${output}`);
    return output;
  }

  private async pulumi(args: string[]): Promise<EngineAnswer> {
    if (args[0] !== "preview") this.savedKubeconfig = undefined;
    const { program, folder, environment } = this.upCommand();
    const answer = await callEngine({
      program,
      args: this.args(args),
      folder,
      environment,
      seconds: UP_SECONDS,
    });
    this.output += answer.stdout + answer.stderr;
    return answer;
  }

  private args(args: string[]): string[] {
    const quiet = args.includes("--json") ? [] : ["--suppress-progress"];
    return [...args, ...quiet, "--stack", this.stack, "--non-interactive", "--color", "never"];
  }
}

function find(nodes: readonly SandboxNode[], name: string): SandboxNode {
  const found = nodes.find((node) => node.name === name);
  if (found === undefined) throw new Error(`there is no machine ${name}`);
  return found;
}
