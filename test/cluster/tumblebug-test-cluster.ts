import path from "node:path";
import type { KubernetesClient } from "../../lib/kubernetes";
import type { SshTarget } from "../../lib/ssh";
import { openTumblebug, type Tumblebug } from "../../providers/tumblebug/client";
import type { Generation } from "../../providers/tumblebug/plan/model";
import { containerNodeSettings } from "../../sandbox/nodes";
import { ContainerEngine } from "../../sandbox/nodes/engine";
import { fleetNames, projectHash } from "../../sandbox/nodes/names";
import { projectFolder } from "../../sandbox/nodes/paths";
import { checkCluster } from "../../sandbox/check";
import { writePrivate } from "../../sandbox/private-file";
import { setUp, TEST_NEEDS } from "../../sandbox/set-up";
import { KUBERNETES_VERSION } from "../../sandbox/systems/ssh-configuration";
import { machinesOf } from "../../sandbox/systems/tumblebug";
import { tumblebugConfiguration } from "../../sandbox/systems/tumblebug-configuration";
import { BackgroundServer, type ServerAccess } from "../../sandbox/tumblebug/background-server";
import type { Toolchain } from "../../sandbox/toolchain";
import { connectionOf } from "../../sandbox/tumblebug/clouds";
import type { StoredConnection } from "../../sandbox/tumblebug/state";
import { nameInLane } from "../lane";
import { PulumiStack } from "../support/pulumi-stack";
import { silent } from "./test-cluster";
import { withApi } from "./with-api";

/** The system of the container nodes of test servers, so that leftovers of a killed run are found. */
export const TEST_TUMBLEBUG_SYSTEM = nameInLane("e2e-tumblebug");

/** Settings of a server besides its connections, for tests that differ from the sandbox. */
interface ServerOptions {
  /** default: that of the sandbox's configuration, "sandbox" */
  readonly namespace?: string;
  /** connection → the /16 of its VMs' public addresses; default: they are the private ones */
  readonly publicBlocks?: Readonly<Record<string, string>>;
}

/** A fake server of the tests' own, in a folder with a fixed path. */
export function testTumblebug(system = TEST_TUMBLEBUG_SYSTEM): BackgroundServer {
  return new BackgroundServer(path.join(projectFolder, ".sandbox", system), system);
}

/** A group of VMs as `foresail:tumblebug` has it; the sandbox's machine type and image unless it names others. */
export interface DesiredGroup {
  readonly name: string;
  readonly replicas: number;
  /** index of its connection; default: the first */
  readonly connection?: number;
}

/** A stack of system `tumblebug` on a fake server, and the cluster that the stack creates. */
export class TumblebugTestCluster {
  private constructor(
    readonly name: string,
    readonly server: BackgroundServer,
    readonly stack: PulumiStack,
    readonly toolchain: Toolchain,
    private readonly access: ServerAccess,
    private readonly generation: Generation,
    readonly connections: readonly string[],
    private readonly namespace: string,
  ) {}

  /** Starts an empty server and makes a stack, after what a killed run left of both was removed. */
  static async create(
    name: string,
    generation: Generation,
    regions: readonly (StoredConnection | readonly [provider: string, region: string])[],
    { namespace = "sandbox", publicBlocks }: ServerOptions = {},
  ): Promise<TumblebugTestCluster> {
    const toolchain = await setUp(TEST_NEEDS, silent);
    const server = testTumblebug();
    await server.delete();
    const connections = regions.map((one) => ("name" in one ? one : connectionOf(...one)));
    const access = await server.start(
      { generation, connections, bundles: [KUBERNETES_VERSION], ...(publicBlocks ? { publicBlocks } : {}) },
      silent,
    );
    const stack = await PulumiStack.create(`test-${name}`, toolchain, {});
    const names = connections.map((each) => each.name);
    return new TumblebugTestCluster(name, server, stack, toolchain, access, generation, names, namespace);
  }

  /**
   * Writes the stack's configuration: that of the sandbox, with the test's groups; the first has the control planes.
   * @param more fields of `foresail:tumblebug`
   */
  async configure(
    groups: readonly DesiredGroup[],
    more: Readonly<Record<string, unknown>> = {},
  ): Promise<void> {
    const { cluster, tumblebug } = tumblebugConfiguration(
      {
        size: { controlPlanes: 1, workers: 0 },
        access: this.access,
        generation: this.generation,
        connections: this.connections,
        cidr: "10.21.0.0/16",
      },
      containerNodeSettings,
    );
    await this.configureAs(
      { ...cluster, name: this.name },
      {
        ...tumblebug,
        ...more,
        groups: groups.map(({ name, replicas, connection = 0 }, index) => ({
          ...{ name, replicas, spec: "t3.medium", image: "debian-12" },
          role: index === 0 ? "control-plane" : "worker",
          connection: this.connections[connection],
        })),
      },
    );
  }

  /** Writes the stack's configuration as it is given, but for the address of the server and its credentials. */
  async configureAs(
    cluster: Readonly<Record<string, unknown>>,
    tumblebug: Readonly<Record<string, unknown>>,
  ): Promise<void> {
    const { address } = this.access;
    await this.stack.configure(
      { system: "tumblebug", cluster, tumblebug: { ...tumblebug, address } },
      {
        tumblebugCredentials: JSON.stringify({
          username: this.access.user,
          password: this.access.password,
        }),
      },
    );
  }

  /** Runs `pulumi up`, which has to succeed. @returns its output */
  async up(): Promise<string> {
    const { exitCode, words } = await this.stack.up();
    if (exitCode !== 0) throw new Error(`pulumi up failed (exit code ${exitCode}):\n${words}`);
    return words;
  }

  /** Of the server's user. */
  get password(): string {
    return this.access.password;
  }

  /** The nodes in the stack's outputs. */
  async nodes(): Promise<{ name: string; role: string }[]> {
    return ((await this.stack.outputs()).nodes ?? []) as { name: string; role: string }[];
  }

  /** Works with the cluster's API. */
  async withApi<T>(work: (client: KubernetesClient) => Promise<T>): Promise<T> {
    return withApi(await this.stack.kubeconfig(), work);
  }

  /** Works with the server's API. */
  async withServer<T>(work: (tumblebug: Tumblebug) => Promise<T>): Promise<T> {
    const tumblebug = await openTumblebug({ ...this.access, generation: this.generation });
    try {
      return await work(tumblebug);
    } finally {
      tumblebug.close();
    }
  }

  /** Everything that the server has of this cluster, and everything that represents it on this machine. */
  async contents(): Promise<Record<string, string[]>> {
    const engine = await ContainerEngine.ensure(silent);
    const { labels } = fleetNames(projectHash(projectFolder), TEST_TUMBLEBUG_SYSTEM);
    return this.withServer(async (tumblebug) => {
      const named = (list: readonly { name: string }[]) => list.map(({ name }) => name).sort();
      const { namespace } = this;
      const found = await tumblebug.infrastructures.read(namespace, this.name);
      return {
        namespaces: (await tumblebug.namespaces.read(namespace)) === undefined ? [] : [namespace],
        vNets: named(await tumblebug.vNets.list(namespace)),
        securityGroups: named(await tumblebug.securityGroups.list(namespace)),
        sshKeys: named(await tumblebug.sshKeys.list(namespace)),
        images: named((await tumblebug.images?.list(namespace)) ?? []),
        // `infra` has no list of them; they keep a namespace from being deleted
        specs: named(this.generation === "infra" ? [] : await tumblebug.specs.list(namespace)),
        infrastructures: found === undefined ? [] : [found.name],
        machines: named(found?.machines ?? []),
        containers: (await engine.containers(labels)).map(({ name }) => name).sort(),
        volumes: (await engine.volumes(labels)).sort(),
      };
    });
  }

  /** The VMs as SSH reaches them, each by its public address. */
  async targets(): Promise<SshTarget[]> {
    const { access, generation, namespace } = this;
    return machinesOf({ access, generation }, TEST_TUMBLEBUG_SYSTEM, namespace, this.name);
  }

  /** Tries whether pods run and every node reaches those of the others. @throws Error that says what does not work */
  async check(): Promise<void> {
    const kubeconfig = await this.stack.kubeconfig();
    const kubeconfigFile = path.join(this.server.folder, "kubeconfig");
    await writePrivate(kubeconfigFile, kubeconfig);
    const machines = await this.targets();
    await checkCluster(silent, {
      ...{ kubeconfig, kubeconfigFile, machines },
      kubectl: this.toolchain.kubernetes(KUBERNETES_VERSION).kubectl,
      nodes: (await this.nodes()).map(({ name }) => name),
    });
  }

  /** Drops the stack, whatever its state, and removes the server with all that it created. */
  async remove(): Promise<void> {
    await this.server.delete();
    await this.stack.remove();
  }
}
