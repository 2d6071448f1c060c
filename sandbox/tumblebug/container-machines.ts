import { NodeFleet } from "../nodes/fleet";
import { KEYS_IN_NODE } from "../nodes/node-recipe";
import type { Reporter } from "../progress";
import type { MachineAddresses, Machines, MachineWish } from "./machines";

const silent: Reporter = { step: (_title, work) => work(() => undefined) };

/** VMs that are container nodes on one network, which this machine reaches too. */
export class ContainerMachines implements Machines {
  private readonly fleet: NodeFleet;
  private turn: Promise<unknown> = Promise.resolve();

  /** @param bundles Kubernetes versions whose images each VM has from its beginning */
  constructor(
    system: string,
    private readonly bundles: readonly string[],
  ) {
    this.fleet = new NodeFleet(system);
  }

  async create(wishes: readonly MachineWish[]): Promise<Map<string, MachineAddresses>> {
    const nodes = await this.inTurn(() =>
      this.fleet.ensure(
        wishes.map(({ id, hostname, publicKey }) => ({
          name: id,
          bundles: this.bundles,
          variant: { hostname, authorizedKeys: `${publicKey.trim()}\n` },
        })),
        silent,
      ),
    );
    await Promise.all(wishes.map(({ id, user }) => this.fleet.execute(id, addUser(user))));
    return new Map(
      nodes.map(({ name, internalAddress }) => [
        name,
        { publicAddress: internalAddress, privateAddress: internalAddress },
      ]),
    );
  }

  async remove(ids: readonly string[]): Promise<void> {
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

  /** Containers are made one batch after another: two would choose the same ports and addresses. */
  private inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.turn.then(work);
    this.turn = result.catch(() => undefined);
    return result;
  }
}

/** Lets the VM's user in with the key that the node was made with, and do all by sudo without a password. */
function addUser(user: string): string {
  if (!/^[a-z][-a-z0-9_]{0,30}$/.test(user)) throw new Error(`${user} is no user name`);
  return [
    `id ${user} >/dev/null 2>&1 || useradd --create-home --shell /bin/bash ${user}`,
    `echo '${user} ALL=(ALL) NOPASSWD: ALL' > /etc/sudoers.d/vm-user`,
    "chmod 0440 /etc/sudoers.d/vm-user",
    `install -d -m 0700 -o ${user} -g ${user} /home/${user}/.ssh`,
    `install -m 0600 -o ${user} -g ${user} ${KEYS_IN_NODE}/authorized_keys /home/${user}/.ssh/authorized_keys`,
  ].join("\n");
}
