import { mkdir, readFile, rm } from "node:fs/promises";
import type { Reporter } from "../progress";
import { chooseAddress } from "./addresses";
import { canShareContent, ensureContent } from "./containerd-content";
import { requireOwnControlGroups } from "./control-groups";
import { ContainerEngine } from "./engine";
import { createNetwork } from "./free-subnet";
import { fleetNames, projectHash, type FleetNames } from "./names";
import { DIRT } from "./dirt";
import { createNode, takenPorts, type NodeVariant, type NodeAddresses } from "./node-creation";
import { ensureNodeImage, nodeImage } from "./node-image";
import { NODE_USER } from "./node-recipe";
import { writeRecord, type NodeRecord } from "./node-record";
import { nodeFolder, projectFolder, systemFolder } from "./paths";
import { awaitSshd, findFreePorts } from "./ports";
import { survey, type Found } from "./survey";

/** A desired node. */
export interface NodeSpec {
  /** a DNS label; the node's hostname */
  readonly name: string;
  /** Kubernetes versions whose images are preloaded on it, such as ["1.36.3"] */
  readonly bundles: readonly string[];
  /** settings that differ from the other nodes of its fleet */
  readonly variant?: Partial<NodeVariant>;
  /** kinds of DIRT that it has from its beginning */
  readonly dirt?: readonly string[];
}

/** A node that exists. */
export interface SandboxNode extends NodeRecord {
  /** always 127.0.0.1: where its ports are published */
  readonly address: string;
  /** the user for logins, with passwordless sudo */
  readonly user: string;
  readonly running: boolean;
}

const SSHD_SECONDS = 60;

/** The container nodes of one system of this project. */
export class NodeFleet {
  private readonly names: FleetNames;

  /**
   * @param system a DNS label: nodes of two systems do not see each other
   * @throws Error for a bad name
   */
  constructor(system: string) {
    this.names = fleetNames(projectHash(projectFolder), system);
  }

  /**
   * Brings nodes up in parallel: keeps running ones, starts stopped ones, creates the others, and waits until the sshd
   * of each answers. Does not touch other nodes.
   * @throws Error when a node does not answer in time or shares control groups with another
   */
  async ensure(specs: readonly NodeSpec[], report: Reporter): Promise<SandboxNode[]> {
    const engine = await ContainerEngine.ensure(report);
    const found = await this.clearLeftovers(engine, new Set(specs.map((spec) => spec.name)));
    const missing = specs.filter((spec) => !found.some((node) => node.name === spec.name));
    const resting = found.filter(
      (node) => node.condition !== "running" && specs.some((spec) => spec.name === node.name),
    );
    if (missing.length > 0) await this.create(engine, missing, report);
    if (resting.length > 0) {
      await report.step(`start ${resting.map((node) => node.name).join(", ")}`, async (update) => {
        await all(resting.map((node) => this.startFound(engine, node)));
        update("sshd answers");
      });
    }
    if (missing.length > 0 || resting.length > 0) await this.checkControlGroups(engine);
    const nodes = await this.list();
    return specs.map(({ name }) => {
      const node = nodes.find((each) => each.name === name);
      if (node === undefined) throw new Error(`the node ${name} disappeared while the others were started`);
      return node;
    });
  }

  /** Returns all complete nodes by name; empty without a container engine. */
  async list(): Promise<SandboxNode[]> {
    const engine = await ContainerEngine.find();
    if (engine === undefined) return [];
    return (await survey(engine, this.names)).flatMap(({ condition, record }) =>
      condition === "leftover" || record === undefined ? [] : [asNode(record, condition === "running")],
    );
  }

  /** Shuts a node down cleanly and keeps its disk. */
  async stop(name: string): Promise<void> {
    const { engine, node } = await this.require(name);
    if (node.condition === "running") await engine.call(["stop", "--time", "30", node.record.container]);
  }

  /** Powers a node off at once and keeps its disk. */
  async kill(name: string): Promise<void> {
    const { engine, node } = await this.require(name);
    if (node.condition === "running") await engine.call(["stop", "--time", "0", node.record.container]);
  }

  /** Starts a stopped node and waits for its sshd. It keeps its ports, address and host key. */
  async start(name: string): Promise<SandboxNode> {
    const { engine, node } = await this.require(name);
    if (node.condition !== "running") await this.startFound(engine, node);
    await this.checkControlGroups(engine);
    return asNode(node.record, true);
  }

  /** Runs a shell script as root on a running node. @returns what it printed */
  async execute(name: string, script: string): Promise<string> {
    const { engine, node } = await this.require(name);
    return engine.call(["exec", node.record.container, "sh", "-e", "-c", script]);
  }

  /** Returns the address of this machine on the nodes' network; undefined before the first node. */
  async gateway(): Promise<string | undefined> {
    const engine = await ContainerEngine.find();
    if (engine === undefined || !(await engine.networks(this.names.labels)).includes(this.names.network))
      return undefined;
    const [subnet] = await engine.subnets(this.names.network);
    return subnet?.replace(/\.0\/24$/, ".1");
  }

  /** Removes a node in any state, with its disk; does nothing when there is none. */
  async delete(name: string): Promise<void> {
    const engine = await ContainerEngine.find();
    if (engine === undefined) return;
    const node = (await survey(engine, this.names)).find((each) => each.name === name);
    if (node !== undefined) await this.remove(engine, node);
  }

  /** Removes all containers, volumes, networks and folders of this system. */
  async deleteAll(): Promise<void> {
    const engine = await ContainerEngine.find();
    if (engine !== undefined) {
      const nodes = await survey(engine, this.names);
      await all(nodes.map((node) => this.remove(engine, node)));
      for (const network of await engine.networks(this.names.labels))
        await engine.call(["network", "rm", network]);
    }
    await rm(systemFolder(this.names.system), { recursive: true, force: true });
  }

  /**
   * Removes leftovers of killed runs: partly created nodes, containers whose processes have ended, volumes and folders
   * without a container, and the network when no node uses it.
   * @returns names of the nodes that were removed
   */
  async cleanLeftovers(): Promise<string[]> {
    const engine = await ContainerEngine.find();
    if (engine === undefined) return [];
    const nodes = await survey(engine, this.names);
    const removed = nodes.filter(({ condition }) => condition === "leftover" || condition === "gone");
    await all(removed.map((node) => this.remove(engine, node)));
    if (removed.length === nodes.length) {
      for (const network of await engine.networks(this.names.labels))
        await engine.call(["network", "rm", network]);
    }
    return removed.map((node) => node.name);
  }

  private async create(engine: ContainerEngine, specs: readonly NodeSpec[], report: Reporter): Promise<void> {
    const kinds = new Map(specs.map(({ variant }) => [nodeImage(variant?.kind), variant?.kind]));
    for (const kind of kinds.values()) await ensureNodeImage(report, kind);
    await mkdir(systemFolder(this.names.system), { recursive: true });
    const versions = specs.flatMap((spec) => spec.bundles);
    const share = versions.length > 0 && (await canShareContent(engine, systemFolder(this.names.system)));
    const contents = new Map<string, string>();
    const contentKey = ({ bundles, variant }: NodeSpec) => [nodeImage(variant?.kind), ...bundles].join();
    for (const spec of share ? specs.filter(({ bundles }) => bundles.length > 0) : [])
      contents.set(
        contentKey(spec),
        await ensureContent(engine, nodeImage(spec.variant?.kind), spec.bundles, report),
      );
    await report.step(`create ${specs.map((spec) => spec.name).join(", ")}`, async (update) => {
      const free = await this.findAddresses(engine, specs.length);
      update("booting");
      await all(
        specs.map(async (spec, index) => {
          const { name, variant, dirt = [] } = spec;
          const addresses = free[index];
          if (addresses === undefined) throw new Error(`no ports and address were found for ${name}`);
          const record = await createNode(
            engine,
            this.names,
            name,
            addresses,
            contents.get(contentKey(spec)),
            variant,
          );
          await awaitSshd(name, record.sshPort, SSHD_SECONDS);
          for (const kind of dirt)
            await engine.call(["exec", record.container, "sh", "-e", "-c", DIRT[kind]?.script ?? "exit 64"]);
          await writeRecord(nodeFolder(this.names.system, name), record);
        }),
      );
      update("sshd answers");
    });
  }

  /** Returns ports and addresses that no node of any clone uses, running or stopped. */
  private async findAddresses(engine: ContainerEngine, count: number): Promise<NodeAddresses[]> {
    const subnet = await this.ensureNetwork(engine);
    const ports = await findFreePorts(this.names.seed, 2 * count, await takenPorts(engine));
    const addresses = new Set(
      (await survey(engine, this.names)).flatMap(({ record }) => record?.internalAddress ?? []),
    );
    return Array.from({ length: count }, (_, index) => {
      const internalAddress = chooseAddress(subnet, addresses);
      addresses.add(internalAddress);
      const [sshPort, apiPort] = ports.slice(2 * index);
      if (sshPort === undefined || apiPort === undefined) throw new Error("too few free ports were found");
      return { sshPort, apiPort, internalAddress };
    });
  }

  private async ensureNetwork(engine: ContainerEngine): Promise<string> {
    const { network, labels } = this.names;
    if (!(await engine.networks(labels)).includes(network)) await createNetwork(engine, this.names);
    const [subnet] = await engine.subnets(network);
    if (subnet === undefined)
      throw new Error(
        `the network ${network} has no subnet; remove it: ${engine.program} network rm ${network}`,
      );
    return subnet;
  }

  private async startFound(engine: ContainerEngine, node: Found): Promise<void> {
    if (node.record === undefined) throw new Error(`the node ${node.name} has no record`);
    const { container, sshPort } = node.record;
    // an engine that missed the end of a container must be notified before it can start the container again
    if (node.condition === "gone") await engine.noteEnd(container);
    await engine.call(["start", container]);
    await awaitSshd(node.name, sshPort, SSHD_SECONDS);
  }

  /** Removes leftovers with the desired names, and returns what remains of the system. */
  private async clearLeftovers(engine: ContainerEngine, wanted: ReadonlySet<string>): Promise<Found[]> {
    const nodes = await survey(engine, this.names);
    const leftovers = nodes.filter(({ name, condition }) => condition === "leftover" && wanted.has(name));
    await all(leftovers.map((node) => this.remove(engine, node)));
    return nodes.filter((node) => node.condition !== "leftover");
  }

  private async remove(engine: ContainerEngine, node: Found): Promise<void> {
    if (node.container !== undefined) await engine.removeContainer(node.container);
    for (const volume of node.volumes) await engine.call(["volume", "rm", "--force", volume]);
    await rm(nodeFolder(this.names.system, node.name), { recursive: true, force: true });
  }

  private async require(
    name: string,
  ): Promise<{ engine: ContainerEngine; node: Found & { record: NodeRecord } }> {
    const engine = await ContainerEngine.find();
    const node = engine && (await survey(engine, this.names)).find((each) => each.name === name);
    if (engine === undefined || node?.record === undefined || node.condition === "leftover") {
      throw new Error(`there is no node ${name} in the system ${this.names.system}`);
    }
    return { engine, node: { ...node, record: node.record } };
  }

  private async checkControlGroups(engine: ContainerEngine): Promise<void> {
    const running = (await survey(engine, this.names)).filter(({ condition }) => condition === "running");
    const texts = await Promise.all(
      running.map(async ({ name, pid }) => [name, await readFile(`/proc/${pid}/cgroup`, "utf8")] as const),
    );
    requireOwnControlGroups(new Map(texts));
  }
}

/** Waits for all, including failures, so that nothing continues in the background after an error. */
async function all(works: readonly Promise<void>[]): Promise<void> {
  const failed = (await Promise.allSettled(works)).find((result) => result.status === "rejected");
  if (failed !== undefined) throw failed.reason;
}

function asNode(record: NodeRecord, running: boolean): SandboxNode {
  return { ...record, address: "127.0.0.1", user: NODE_USER, running };
}
