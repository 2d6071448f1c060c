import { NodeFleet } from "../nodes/fleet";
import { KEYS_IN_NODE } from "../nodes/node-recipe";
import type { Reporter } from "../progress";
import { AddressTranslation } from "./address-translation";
import type { MachineAddresses, Machines, DesiredMachine } from "./machines";

const silent: Reporter = { step: (_title, work) => work(() => undefined) };

/** VMs that are container nodes on one network, which this machine can reach, too. */
export class ContainerMachines implements Machines {
  private readonly fleet: NodeFleet;
  private readonly translation: AddressTranslation;
  private readonly translated = new Map<string, MachineAddresses>();
  private queue: Promise<unknown> = Promise.resolve();

  /**
   * @param bundles Kubernetes versions whose images are preloaded on each VM
   * @param publicBlocks connection → the /16 of its VMs' public addresses; absent: the private addresses are used
   */
  constructor(
    system: string,
    private readonly bundles: readonly string[],
    private readonly publicBlocks?: Readonly<Record<string, string>>,
  ) {
    this.fleet = new NodeFleet(system);
    this.translation = new AddressTranslation(system);
  }

  async create(desired: readonly DesiredMachine[]): Promise<Map<string, MachineAddresses>> {
    const nodes = await this.inTurn(() =>
      this.fleet.ensure(
        desired.map(({ id, hostname, publicKey }) => ({
          name: id,
          bundles: this.bundles,
          variant: { hostname, authorizedKeys: `${publicKey.trim()}\n` },
        })),
        silent,
      ),
    );
    await Promise.all(desired.map(({ id, user }) => this.fleet.execute(id, addUser(user))));
    const made = new Map(
      desired.map(({ id, connection }, index) => {
        const privateAddress = nodes[index]?.internalAddress ?? "";
        return [id, { publicAddress: this.publicAddress(connection, privateAddress), privateAddress }];
      }),
    );
    await this.translate(() => made.forEach((addresses, id) => this.translated.set(id, addresses)));
    return made;
  }

  async remove(ids: readonly string[]): Promise<void> {
    await this.translate(() => ids.forEach((id) => this.translated.delete(id)));
    await this.inTurn(() => Promise.all(ids.map((id) => this.fleet.delete(id))));
  }

  async balancerAddress(): Promise<string> {
    const address = await this.fleet.gateway();
    if (address === undefined) throw new Error("there is no network of VMs yet");
    return address;
  }

  async powerOff(): Promise<void> {
    const running = (await this.fleet.list()).filter((node) => node.running);
    await Promise.all(running.map((node) => this.fleet.stop(node.name)));
  }

  /** The last two bytes are those of the private address, which is unique to this fleet on this machine. */
  private publicAddress(connection: string, privateAddress: string): string {
    const block = this.publicBlocks?.[connection];
    if (block === undefined) return privateAddress;
    return [...block.split(".").slice(0, 2), ...privateAddress.split(".").slice(2)].join(".");
  }

  private async translate(change: () => void): Promise<void> {
    if (this.publicBlocks === undefined) return;
    await this.inTurn(() => {
      change();
      return this.translation.set([...this.translated.values()]);
    });
  }

  /** Containers are created one batch after another, because two at once would choose the same ports and addresses. */
  private inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.queue.then(work);
    this.queue = result.catch(() => undefined);
    return result;
  }
}

/** Allows the VM's user to log in with the node's key, with passwordless sudo. */
function addUser(user: string): string {
  if (!/^[a-z][-a-z0-9_]{0,30}$/.test(user)) throw new Error(`${user} is not a valid user name`);
  return [
    `id ${user} >/dev/null 2>&1 || useradd --create-home --shell /bin/bash ${user}`,
    `echo '${user} ALL=(ALL) NOPASSWD: ALL' > /etc/sudoers.d/vm-user`,
    "chmod 0440 /etc/sudoers.d/vm-user",
    `install -d -m 0700 -o ${user} -g ${user} /home/${user}/.ssh`,
    `install -m 0600 -o ${user} -g ${user} ${KEYS_IN_NODE}/authorized_keys /home/${user}/.ssh/authorized_keys`,
  ].join("\n");
}
