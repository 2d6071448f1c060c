import { createHash } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { ensureContent, canShareContent } from "../../nodes/containerd-content";
import { CommandError } from "../../nodes/command";
import { ContainerEngine } from "../../nodes/engine";
import { NodeFleet } from "../../nodes/fleet";
import { containerName, fleetNames, projectHash, type FleetNames } from "../../nodes/names";
import { createNode, labelArguments, takenPorts } from "../../nodes/node-creation";
import { ensureNodeImage } from "../../nodes/node-image";
import { writeRecord, type NodeRecord } from "../../nodes/node-record";
import { nodeFolder, projectFolder, systemFolder } from "../../nodes/places";
import { awaitSshd, findFreePorts } from "../../nodes/ports";
import { survey } from "../../nodes/survey";
import type { Reporter } from "../../progress";
import type { CloudSettings } from "../settings";
import { publicAddresses } from "../seed";
import type { ContainerState, MachineAddress, MachineRequest } from "./decision";

const SSHD_SECONDS = 60;
const PORT_ATTEMPTS = 4;
const silent: Reporter = { step: (_title, work) => work(() => undefined) };

/** The containers and container networks of one cloud; the hypervisor that nova's fake driver has not got. */
export class Hosts {
  private readonly fleet: NodeFleet;
  private readonly names: FleetNames;
  /** ports given to containers that do not run yet */
  private readonly promised = new Set<number>();

  constructor(private readonly settings: Pick<CloudSettings, "system" | "bundles" | "publicCidr">) {
    this.fleet = new NodeFleet(settings.system);
    this.names = fleetNames(projectHash(projectFolder), settings.system);
  }

  /** What is found of every server's container, by the server's id; what is half made counts as none. */
  async find(): Promise<Map<string, ContainerState>> {
    const engine = await this.engine();
    const found = await survey(engine, this.names);
    return new Map(
      found.map(({ name, condition }) => [
        name,
        condition === "running" ? "running" : condition === "leftover" ? "none" : "stopped",
      ]),
    );
  }

  /**
   * Makes a server's container, on the networks and with the addresses of its ports.
   * @returns its record, once its sshd answers
   * @throws Error that says why it could not be made; nothing of it is left then
   */
  async create(id: string, request: MachineRequest): Promise<NodeRecord> {
    const engine = await this.engine();
    // of a run that was killed
    await this.fleet.delete(id);
    const [first, ...others] = request.addresses;
    if (first === undefined)
      throw new Error(`${request.name} has no IPv4 address: give it a port or a network`);
    await ensureNodeImage(silent);
    await mkdir(systemFolder(this.settings.system), { recursive: true });
    const share =
      this.settings.bundles.length > 0 && (await canShareContent(engine, systemFolder(this.settings.system)));
    const content = share ? await ensureContent(engine, this.settings.bundles, silent) : undefined;
    try {
      const record = await this.run(engine, id, request, first, content);
      for (const address of others) await this.connect(engine, id, address);
      await awaitSshd(request.name, record.sshPort, SSHD_SECONDS);
      await writeRecord(nodeFolder(this.settings.system, id), record);
      return record;
    } catch (error) {
      await this.remove(id);
      throw error;
    }
  }

  /** Another cloud or fleet may take the ports between their choice and their use: then others are chosen. */
  private async run(
    engine: ContainerEngine,
    id: string,
    request: MachineRequest,
    address: MachineAddress,
    content: string | undefined,
  ): Promise<NodeRecord> {
    const network = await this.ensureNetwork(engine, address);
    for (let attempt = 1; ; attempt++) {
      const [sshPort, apiPort] = await this.choosePorts(engine);
      const place = { sshPort, apiPort, internalAddress: address.address };
      try {
        return await createNode(engine, this.names, id, place, content, {
          hostname: request.hostname,
          network,
          hardwareAddress: address.mac,
          authorizedKeys: request.key === null ? "" : `${request.key.trim()}\n`,
        });
      } catch (error) {
        const isTaken =
          error instanceof CommandError && /address already in use|port is already/.test(error.stderr);
        if (!isTaken || attempt === PORT_ATTEMPTS) throw error;
        await this.fleet.delete(id);
      }
    }
  }

  /** Starts a stopped container and waits for its sshd. */
  async start(id: string): Promise<void> {
    await this.fleet.start(id);
  }

  async stop(id: string): Promise<void> {
    await this.fleet.stop(id);
  }

  /** Removes a container with its volumes, and the networks that nobody uses any more. */
  async remove(id: string): Promise<void> {
    await this.fleet.delete(id);
    const engine = await this.engine();
    for (const network of await engine.networks(this.names.labels)) {
      if (network !== this.publicNetwork && (await this.membersOf(engine, network)) === 0)
        await engine.call(["network", "rm", network]);
    }
  }

  /** Gives a running container the floating IP, or takes the one away that it has. */
  async setFloatingIp(id: string, wanted: string | undefined): Promise<void> {
    const engine = await this.engine();
    const container = containerName(this.names, id);
    const current = await this.addressOn(engine, container, this.publicNetwork);
    if (current !== wanted) {
      if (current !== undefined) await engine.call(["network", "disconnect", this.publicNetwork, container]);
      if (wanted !== undefined)
        await engine.call(["network", "connect", "--ip", wanted, this.publicNetwork, container]);
    }
    if (wanted === undefined) return;
    // the way out stays that of the server's own network, or its address would change with the floating IP
    const { gateway } = publicAddresses(this.settings.publicCidr);
    await engine.call([
      ...["exec", container, "sh", "-c"],
      `! ip route show default via ${gateway} | grep -q . || ip route del default via ${gateway}`,
    ]);
  }

  /** Makes the network that stands in for the external one. */
  async ensurePublicNetwork(): Promise<void> {
    const engine = await this.engine();
    const { publicCidr } = this.settings;
    const { gateway } = publicAddresses(publicCidr);
    if ((await engine.networks(this.names.labels)).includes(this.publicNetwork)) return;
    await this.createNetwork(engine, this.publicNetwork, publicCidr, gateway);
  }

  /** Shuts all containers down; their disks stay. */
  async powerOff(): Promise<void> {
    const running = (await this.fleet.list()).filter((node) => node.running);
    await Promise.all(running.map((node) => this.fleet.stop(node.name)));
  }

  async deleteAll(): Promise<void> {
    await this.fleet.deleteAll();
  }

  /** Two clouds of one clone begin to look for ports at different places. */
  private get portSeed(): string {
    return createHash("sha256").update(this.names.network).digest("hex");
  }

  private get publicNetwork(): string {
    return `${this.names.network}-public`;
  }

  private async engine(): Promise<ContainerEngine> {
    const engine = await ContainerEngine.find();
    if (engine === undefined)
      throw new Error("neither podman nor docker answers: servers of this cloud are containers");
    return engine;
  }

  private async choosePorts(engine: ContainerEngine): Promise<[number, number]> {
    const taken = new Set([...(await takenPorts(engine)), ...this.promised]);
    const [sshPort, apiPort] = await findFreePorts(this.portSeed, 2, taken);
    if (sshPort === undefined || apiPort === undefined) throw new Error("too few free ports were found");
    this.promised.add(sshPort).add(apiPort);
    return [sshPort, apiPort];
  }

  /** One container network a subnet, with its CIDR and gateway. */
  private async ensureNetwork(engine: ContainerEngine, address: MachineAddress): Promise<string> {
    const key = createHash("sha256").update(`${address.network} ${address.cidr}`).digest("hex").slice(0, 8);
    const network = `${this.names.network}-${key}`;
    if (!(await engine.networks(this.names.labels)).includes(network))
      await this.createNetwork(engine, network, address.cidr, address.gateway ?? undefined);
    return network;
  }

  private async createNetwork(
    engine: ContainerEngine,
    network: string,
    cidr: string,
    gateway: string | undefined,
  ): Promise<void> {
    const own = gateway === undefined ? [] : ["--gateway", gateway];
    try {
      await engine.call([
        ...["network", "create", "--subnet", cidr, ...own],
        ...labelArguments(this.names.labels),
        network,
      ]);
    } catch (error) {
      // two servers of one network ask for it at the same time
      if ((await engine.networks(this.names.labels)).includes(network)) return;
      const why = error instanceof Error ? error.message : String(error);
      throw new Error(
        `the subnet ${cidr} can't be had on this machine; use one that no interface, container network or ` +
          `other cloud of this machine overlaps. ${why}`,
        { cause: error },
      );
    }
  }

  private async connect(engine: ContainerEngine, id: string, address: MachineAddress): Promise<void> {
    const network = await this.ensureNetwork(engine, address);
    const container = containerName(this.names, id);
    await engine.call(["network", "connect", "--ip", address.address, network, container]);
  }

  private async networksOf(
    engine: ContainerEngine,
    container: string,
  ): Promise<Record<string, { IPAddress: string }>> {
    const format = "{{json .NetworkSettings.Networks}}";
    return JSON.parse(await engine.call(["container", "inspect", "--format", format, container])) as Record<
      string,
      { IPAddress: string }
    >;
  }

  private async addressOn(
    engine: ContainerEngine,
    container: string,
    network: string,
  ): Promise<string | undefined> {
    return (await this.networksOf(engine, container))[network]?.IPAddress;
  }

  private async membersOf(engine: ContainerEngine, network: string): Promise<number> {
    const containers = await engine.containers(this.names.labels);
    const lists = await Promise.all(
      containers.map(({ name }) => this.networksOf(engine, name).catch((): Record<string, never> => ({}))),
    );
    return lists.filter((networks) => network in networks).length;
  }
}
