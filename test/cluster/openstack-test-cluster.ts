import { readFile } from "node:fs/promises";
import type { KubernetesClient } from "../../lib/kubernetes";
import { SshConnection } from "../../lib/ssh";
import { containerNodeSettings } from "../../sandbox/nodes";
import { ContainerEngine } from "../../sandbox/nodes/engine";
import { fleetNames, projectHash } from "../../sandbox/nodes/names";
import { nodeKeyFile, projectFolder } from "../../sandbox/nodes/paths";
import { ensureNodeKey } from "../../sandbox/nodes/ssh-keys";
import type { Cloud } from "../../sandbox/openstack/cloud";
import type { CloudOptions } from "../../sandbox/openstack/cloud-options";
import type { CloudApi } from "../../sandbox/openstack/cloud-api";
import { CLOUD_NAMES } from "../../sandbox/openstack/seed";
import { setUp } from "../../sandbox/set-up";
import { chooseCidr, consoleHostKey, openstackSystem } from "../../sandbox/systems/openstack";
import { openstackConfiguration } from "../../sandbox/systems/openstack-configuration";
import { KUBERNETES_VERSION } from "../../sandbox/systems/ssh-configuration";
import { readServer, testCloud, TEST_CLOUD_SYSTEM } from "../support/openstack-cloud";
import { PulumiStack } from "../support/pulumi-stack";
import { cloudContents, type FurtherServices } from "./cloud-contents";
import { silent } from "./test-cluster";
import { withApi } from "./with-api";

const ASK_SECONDS = 30;

/** A pool as `foresail:openstack` has it; the sandbox's flavor and image unless it names others. */
export interface DesiredPool {
  readonly name: string;
  readonly replicas: number;
  readonly flavor?: string;
  readonly floatingIp?: boolean;
  readonly labels?: Readonly<Record<string, string>>;
  readonly replacementsPerRun?: number;
  readonly rootVolume?: { readonly sizeGiB: number; readonly type?: string };
  readonly zones?: readonly string[];
}

/** Contents of the configuration. */
export interface DesiredOpenstack {
  /** The first one has the control planes. */
  readonly pools: readonly DesiredPool[];
  readonly replace?: Readonly<Record<string, number>>;
  /** Default: haproxy on every node. */
  readonly endpoint?: Readonly<Record<string, unknown>>;
  /** Blocks that may open the API besides the machines' own. */
  readonly api?: readonly string[];
  /** Block of the machines; default: one that is free on this machine. */
  readonly cidr?: string;
  /** Default: none. */
  readonly cloudProvider?: Readonly<Record<string, unknown>>;
  /** Entry of clouds.yaml; default: that with an application credential. */
  readonly as?: string;
}

/** A server as a project sees it. */
interface ServerObject {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  /** Empty for one that boots from a volume. */
  readonly image: { readonly id: string } | "";
  readonly metadata: Readonly<Record<string, string>>;
  readonly "OS-EXT-STS:task_state": string | null;
  readonly "OS-EXT-AZ:availability_zone": string;
}

/** A volume as a project sees it. */
interface VolumeObject {
  readonly id: string;
  /** GiB */
  readonly size: number;
  readonly status: string;
  readonly volume_type: string;
  readonly attachments: readonly { readonly server_id: string }[];
}

/** What a node of the stack's output says. */
interface NodeOutput {
  readonly name: string;
  readonly role: string;
  /** In the machines' network. */
  readonly address: string;
}

/** What the test's cloud is to have, and whether the run continues with what an earlier one left. */
type TestCloudOptions = Pick<CloudOptions, "octavia" | "cinder" | "bundles" | "reachedByServers"> & {
  readonly keep?: boolean;
};

/** A cloud of the test's own, a stack of system `openstack` on it, and the cluster that the stack makes. */
export class OpenstackTestCluster {
  private constructor(
    readonly name: string,
    readonly cloud: Cloud,
    readonly api: CloudApi,
    readonly stack: PulumiStack,
    private readonly cidr: string,
    private readonly key: { readonly private: string; readonly public: string },
    private readonly services: FurtherServices,
  ) {}

  /**
   * Starts an empty cloud and makes a stack, after what a killed run left of both was removed.
   * @param keep continues with what an earlier run left, for work on a test
   * @param options.octavia the cloud has load balancers
   * @param options.cinder the cloud has volumes
   * @param options.bundles what its servers have besides Kubernetes' own images
   */
  static async create(
    name: string,
    { keep = false, octavia = false, cinder = false, bundles = [], ...options }: TestCloudOptions = {},
  ): Promise<OpenstackTestCluster> {
    const toolchain = await setUp(openstackSystem.needs, silent);
    const cloud = testCloud({ bundles: [KUBERNETES_VERSION, ...bundles], octavia, cinder, ...options });
    if (!keep) await cloud.delete();
    await cloud.start(toolchain.python("openstack"), silent);
    const variables = { OS_CLIENT_CONFIG_FILE: cloud.paths.clouds };
    const stack = await PulumiStack.create(`test-${name}`, toolchain, variables, { keep });
    const cidr = await chooseCidr(cloud.paths.folder, { report: silent });
    const publicKey = await ensureNodeKey();
    const key = { private: await readFile(nodeKeyFile, "utf8"), public: publicKey };
    const services = { octavia, cinder };
    return new OpenstackTestCluster(name, cloud, await cloud.api("project"), stack, cidr, key, services);
  }

  /** Writes the stack's configuration: that of the sandbox, with the test's pools. */
  async configure({
    pools,
    replace = {},
    endpoint,
    api = [],
    cidr = this.cidr,
    cloudProvider,
    as,
  }: DesiredOpenstack): Promise<void> {
    const { cluster, openstack } = this.sandboxConfiguration(cidr);
    const access = openstack["access"] as { readonly api: readonly string[] };
    const machine = { flavor: CLOUD_NAMES.flavor, image: CLOUD_NAMES.image };
    const desired = pools.map((pool, index) => ({
      role: index === 0 ? "control-plane" : "worker",
      ...machine,
      ...pool,
    }));
    await this.configureAs(
      { ...cluster, name: this.name },
      {
        ...openstack,
        access: { ...access, api: [...access.api, ...api] },
        pools: desired,
        replace,
        ...(endpoint && { endpoint }),
        ...(cloudProvider && { cloudProvider }),
        ...(as !== undefined && { cloud: as }),
      },
    );
  }

  /** Writes the stack's configuration of `foresail:cluster` and `foresail:openstack`. */
  async configureAs(cluster: object, openstack: object): Promise<void> {
    await this.stack.configure(
      { system: "openstack", cluster, openstack },
      { sshPrivateKey: this.key.private },
    );
  }

  /** What a stack on the sandbox's cloud is configured with. @param cidr the machines' block */
  sandboxConfiguration(cidr = this.cidr): ReturnType<typeof openstackConfiguration> {
    const fixture = { size: { controlPlanes: 1, workers: 0 }, cidr, key: this.key };
    return openstackConfiguration(fixture, containerNodeSettings);
  }

  /**
   * Runs `pulumi up`, which has to succeed.
   * @returns its output
   * @throws Error with its output when it fails
   */
  async up(): Promise<string> {
    const { exitCode, words } = await this.stack.up();
    if (exitCode === 0) return words;
    const faults = (await this.faults()).join("\n");
    throw new Error(`pulumi up failed (exit code ${exitCode}):\n${words}\n${faults}`);
  }

  /** Runs `pulumi up`, which has to fail. @returns its output */
  async failingUp(): Promise<string> {
    const { exitCode, words } = await this.stack.up();
    if (exitCode === 0) throw new Error(`pulumi up succeeded unexpectedly:\n${words}`);
    return words;
  }

  /** The machines that this run and the next ones create and delete, as a preview lists them. */
  async plannedTurns(): Promise<string[]> {
    return (await this.stack.previewed()).steps[`${this.name}-cloud`] ?? [];
  }

  /** The lines that the last run left for the next ones. */
  async remaining(): Promise<unknown> {
    return (await this.stack.outputs()).remaining;
  }

  /** host:port of the API for nodes, and for people where it has a floating IP. */
  async endpoints(): Promise<{ nodes: string; external?: string }> {
    return (await this.stack.outputs()).endpoints as { nodes: string; external?: string };
  }

  /** The nodes in the stack's outputs. */
  async nodes(): Promise<NodeOutput[]> {
    return ((await this.stack.outputs()).nodes ?? []) as NodeOutput[];
  }

  /** Machine name → the address by which SSH reached it in the last run, as the state has it. */
  async reachedAt(): Promise<Record<string, string>> {
    const { deployment } = JSON.parse(await this.stack.export()) as ExportedState;
    const mark = deployment.resources.find(({ type }) => type.endsWith("foresail:InitializedMark"));
    return Object.fromEntries((mark?.inputs?.machines ?? []).map(({ name, address }) => [name, address]));
  }

  /** The servers of the project, as the cloud reports them, sorted by name. */
  async servers(): Promise<ServerObject[]> {
    const { servers } = (await this.api.call("nova", "GET", "/servers/detail")) as {
      servers: ServerObject[];
    };
    return servers.sort((one, other) => one.name.localeCompare(other.name));
  }

  /** The volumes of the project, in no order. */
  async volumes(): Promise<readonly VolumeObject[]> {
    const { volumes } = (await this.api.call("cinder", "GET", "/volumes/detail")) as {
      volumes: readonly VolumeObject[];
    };
    return volumes;
  }

  /** Why servers are in state ERROR: their provider does not report it, and the cloud forgets it with them. */
  private async faults(): Promise<string[]> {
    const failed = (await this.servers()).filter(({ status }) => status === "ERROR");
    return Promise.all(
      failed.map(async ({ id, name }) => `${name}: ${(await readServer(this.api, id)).fault?.message}`),
    );
  }

  /** The name of the only machine of a slot such as "w-1". */
  async machineOf(slot: string): Promise<string> {
    const found = (await this.servers())
      .map(({ name }) => name)
      .filter((name) => name.startsWith(`${slot}-`));
    if (found.length !== 1) throw new Error(`the servers of ${slot} are: ${found.join(", ") || "none"}`);
    return found[0] ?? "";
  }

  /** Works with the cluster's API. */
  async withApi<T>(work: (client: KubernetesClient) => Promise<T>): Promise<T> {
    return withApi(await this.stack.kubeconfig(), work);
  }

  /** Runs a script on a machine as root, by the address that the stack reaches it by. @returns what it printed */
  async onMachine(name: string, script: string, seconds = ASK_SECONDS): Promise<string> {
    const address = (await this.reachedAt())[name];
    const id = (await this.servers()).find((server) => server.name === name)?.id;
    if (address === undefined || id === undefined) throw new Error(`there is no machine ${name}`);
    const hostKey = await consoleHostKey(this.api, id);
    const connection = await SshConnection.open(
      { name, address, port: 22, user: "foresail", hostKey, privateKey: this.key.private },
      { seconds: ASK_SECONDS },
    );
    try {
      return (await connection.run("sudo -n bash -s", { name: "ask", stdin: script, seconds })).stdout;
    } finally {
      connection.close();
    }
  }

  /** Everything that the project can see in the cloud, and everything that represents it on this machine. */
  async contents(): Promise<Record<string, string[]>> {
    const engine = await ContainerEngine.ensure(silent);
    const { labels } = fleetNames(projectHash(projectFolder), TEST_CLOUD_SYSTEM);
    return {
      ...(await cloudContents(this.api, this.services)),
      containers: (await engine.containers(labels)).map(({ name }) => name).sort(),
      volumes: (await engine.volumes(labels)).sort(),
      containerNetworks: (await engine.networks(labels)).sort(),
    };
  }

  /** Drops the stack, whatever its state, and removes the cloud with all that runs in it. */
  async remove(): Promise<void> {
    await this.cloud.delete();
    await this.stack.remove();
  }
}

interface ExportedState {
  readonly deployment: {
    readonly resources: readonly {
      readonly type: string;
      readonly inputs?: { readonly machines?: readonly { name: string; address: string }[] };
    }[];
  };
}
