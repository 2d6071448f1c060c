import { createHash } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { ensureContent, canShareContent } from "../../nodes/containerd-content";
import { CommandError } from "../../nodes/command";
import { ContainerEngine } from "../../nodes/engine";
import { NodeFleet } from "../../nodes/fleet";
import { containerName, fleetNames, projectHash, type FleetNames } from "../../nodes/names";
import { createNode, takenPorts } from "../../nodes/node-creation";
import { ensureNodeImage, nodeImage } from "../../nodes/node-image";
import { writeRecord, type NodeRecord } from "../../nodes/node-record";
import { nodeFolder, projectFolder, systemFolder } from "../../nodes/paths";
import { awaitSshd, findFreePorts } from "../../nodes/ports";
import { survey } from "../../nodes/survey";
import type { Reporter } from "../../progress";
import type { CloudSettings } from "../settings";
import { balancerScript, type BalancerListener } from "./balancer";
import type { ContainerState, MachineAddress, MachineRequest } from "./decision";
import { MachineNetworks } from "./networks";

const SSHD_SECONDS = 60;
const PORT_ATTEMPTS = 4;
const silent: Reporter = { step: (_title, work) => work(() => undefined) };

/** The containers and container networks of one cloud: the hypervisor that nova's fake driver lacks. */
export class Hosts {
  private readonly fleet: NodeFleet;
  private readonly names: FleetNames;
  /** ports of containers that are not running yet */
  private readonly promised = new Set<number>();
  private found: ContainerEngine | undefined;
  private ownNetworks: MachineNetworks | undefined;

  constructor(private readonly settings: Pick<CloudSettings, "system" | "bundles" | "publicCidr">) {
    this.fleet = new NodeFleet(settings.system);
    this.names = fleetNames(projectHash(projectFolder), settings.system);
  }

  /** Returns the state of each server's container by the server's id; partly created ones count as none. */
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
   * Creates a server's container on the networks and with the addresses of its ports.
   * @returns its record, once its sshd answers
   * @throws Error with the reason why it could not be created; leaves nothing behind
   */
  async create(id: string, request: MachineRequest): Promise<NodeRecord> {
    const engine = await this.engine();
    // left by a killed run
    await this.fleet.delete(id);
    const [first, ...others] = request.addresses;
    if (first === undefined)
      throw new Error(`${request.name} has no IPv4 address: give it a port or a network`);
    await ensureNodeImage(silent);
    await mkdir(systemFolder(this.settings.system), { recursive: true });
    const share =
      this.settings.bundles.length > 0 && (await canShareContent(engine, systemFolder(this.settings.system)));
    const content = share
      ? await ensureContent(engine, nodeImage(), this.settings.bundles, silent)
      : undefined;
    try {
      const record = await this.run(engine, id, request, first, content);
      for (const address of others) await (await this.networks()).connect(id, address);
      await awaitSshd(request.name, record.sshPort, SSHD_SECONDS);
      await writeRecord(nodeFolder(this.settings.system, id), record);
      return record;
    } catch (error) {
      await this.remove(id);
      throw error;
    }
  }

  /** Chooses other ports if another cloud or fleet takes them between choice and use. */
  private async run(
    engine: ContainerEngine,
    id: string,
    request: MachineRequest,
    address: MachineAddress,
    content: string | undefined,
  ): Promise<NodeRecord> {
    const networks = await this.networks();
    for (let attempt = 1; ; attempt++) {
      const [sshPort, apiPort] = await this.choosePorts(engine);
      const path_ = { sshPort, apiPort, internalAddress: address.address };
      try {
        return await networks.with(address, (network) =>
          createNode(engine, this.names, id, path_, content, {
            hostname: request.hostname,
            network,
            hardwareAddress: address.mac,
            authorizedKeys: request.key === null ? "" : `${request.key.trim()}\n`,
          }),
        );
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

  /** Removes a container with its volumes, and unused networks. */
  async remove(id: string): Promise<void> {
    await this.fleet.delete(id);
    await (await this.networks()).removeUnused();
  }

  /** Assigns the floating IP to a running container, or removes the current one. */
  async setFloatingIp(id: string, wanted: string | undefined): Promise<void> {
    await (await this.networks()).setFloatingIp(id, wanted);
  }

  /** Configures a running container's haproxy for a load balancer's listeners. */
  async balance(id: string, listeners: readonly BalancerListener[]): Promise<void> {
    const container = containerName(this.names, id);
    await (await this.engine()).call(["exec", container, "sh", "-c", balancerScript(listeners)]);
  }

  /** Creates the network that represents the external one. */
  async ensurePublicNetwork(): Promise<void> {
    await (await this.networks()).ensurePublic();
  }

  /** Shuts all containers down and keeps their disks. */
  async powerOff(): Promise<void> {
    const running = (await this.fleet.list()).filter((node) => node.running);
    await Promise.all(running.map((node) => this.fleet.stop(node.name)));
  }

  async deleteAll(): Promise<void> {
    await this.fleet.deleteAll();
  }

  /** Different clouds of one clone start to look for ports at different numbers. */
  private get portSeed(): string {
    return createHash("sha256").update(this.names.network).digest("hex");
  }

  private async engine(): Promise<ContainerEngine> {
    this.found ??= await ContainerEngine.find();
    if (this.found === undefined)
      throw new Error("neither podman nor docker answers: servers of this cloud are containers");
    return this.found;
  }

  private async networks(): Promise<MachineNetworks> {
    const engine = await this.engine();
    this.ownNetworks ??= new MachineNetworks(engine, this.names, this.settings.publicCidr);
    return this.ownNetworks;
  }

  private async choosePorts(engine: ContainerEngine): Promise<[number, number]> {
    const taken = new Set([...(await takenPorts(engine)), ...this.promised]);
    const [sshPort, apiPort] = await findFreePorts(this.portSeed, 2, taken);
    if (sshPort === undefined || apiPort === undefined) throw new Error("too few free ports were found");
    this.promised.add(sshPort).add(apiPort);
    return [sshPort, apiPort];
  }
}
