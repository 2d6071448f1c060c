import { createHash } from "node:crypto";
import type { ContainerEngine } from "../../nodes/engine";
import { containerName, type FleetNames } from "../../nodes/names";
import { labelArguments } from "../../nodes/node-creation";
import { publicAddresses } from "../seed";
import type { MachineAddress } from "./decision";

/**
 * The container networks of one cloud: one per subnet with its CIDR and gateway, and one that represents the external
 * network.
 */
export class MachineNetworks {
  /** networks on which containers are being created, and how many */
  private readonly awaited = new Map<string, number>();

  constructor(
    private readonly engine: ContainerEngine,
    private readonly names: FleetNames,
    private readonly publicCidr: string,
  ) {}

  private get publicNetwork(): string {
    return `${this.names.network}-public`;
  }

  /** Creates the network that represents the external one, unless it exists. */
  async ensurePublic(): Promise<void> {
    if ((await this.engine.networks(this.names.labels)).includes(this.publicNetwork)) return;
    await this.create(this.publicNetwork, this.publicCidr, publicAddresses(this.publicCidr).gateway);
  }

  /**
   * Does work that connects a container to the network of an address; the network exists while the work runs.
   * @throws Error that names the subnet if it can't be created on this machine
   */
  async with<Result>(address: MachineAddress, work: (network: string) => Promise<Result>): Promise<Result> {
    const key = createHash("sha256").update(`${address.network} ${address.cidr}`).digest("hex").slice(0, 8);
    const network = `${this.names.network}-${key}`;
    this.awaited.set(network, (this.awaited.get(network) ?? 0) + 1);
    try {
      if (!(await this.engine.networks(this.names.labels)).includes(network))
        await this.create(network, address.cidr, address.gateway ?? undefined);
      return await work(network);
    } finally {
      this.awaited.set(network, (this.awaited.get(network) ?? 1) - 1);
    }
  }

  /** Connects a running container to one more network. */
  async connect(id: string, address: MachineAddress): Promise<void> {
    await this.with(address, (network) => this.attach(id, network, address.address));
  }

  /** Removes the networks that no container uses any more. */
  async removeUnused(): Promise<void> {
    const containers = await this.engine.containers(this.names.labels);
    const used = await Promise.all(containers.map(({ name }) => this.networksOf(name).catch(() => ({}))));
    for (const network of await this.engine.networks(this.names.labels)) {
      const isUsed = used.some((networks) => network in networks) || (this.awaited.get(network) ?? 0) > 0;
      if (network !== this.publicNetwork && !isUsed) await this.engine.call(["network", "rm", network]);
    }
  }

  /** Assigns the floating IP to a running container, or removes the current one. */
  async setFloatingIp(id: string, wanted: string | undefined): Promise<void> {
    const container = containerName(this.names, id);
    const current = (await this.networksOf(container))[this.publicNetwork]?.IPAddress;
    if (current !== wanted) {
      if (current !== undefined)
        await this.engine.call(["network", "disconnect", this.publicNetwork, container]);
      if (wanted !== undefined) await this.attach(id, this.publicNetwork, wanted);
    }
    if (wanted === undefined) return;
    // the default route stays on the server's own network, or its source address would change with the floating IP
    const { gateway } = publicAddresses(this.publicCidr);
    await this.engine.call([
      ...["exec", container, "sh", "-c"],
      `! ip route show default via ${gateway} | grep -q . || ip route del default via ${gateway}`,
    ]);
  }

  private async attach(id: string, network: string, address: string): Promise<void> {
    await this.engine.call(["network", "connect", "--ip", address, network, containerName(this.names, id)]);
  }

  private async create(network: string, cidr: string, gateway: string | undefined): Promise<void> {
    const own = gateway === undefined ? [] : ["--gateway", gateway];
    try {
      await this.engine.call([
        ...["network", "create", "--subnet", cidr, ...own],
        ...labelArguments(this.names.labels),
        network,
      ]);
    } catch (error) {
      // two servers of one network may request it at the same time
      if ((await this.engine.networks(this.names.labels)).includes(network)) return;
      const why = error instanceof Error ? error.message : String(error);
      throw new Error(
        `the subnet ${cidr} can't be created on this machine; use one that no interface, container network or ` +
          `other cloud on this machine overlaps. ${why}`,
        { cause: error },
      );
    }
  }

  private async networksOf(container: string): Promise<Record<string, { IPAddress: string }>> {
    const format = "{{json .NetworkSettings.Networks}}";
    const text = await this.engine.call(["container", "inspect", "--format", format, container]);
    return (JSON.parse(text) ?? {}) as Record<string, { IPAddress: string }>;
  }
}
