/** A VM that is to run somewhere. */
export interface DesiredMachine {
  /** a DNS label of its own among all VMs of the server */
  readonly id: string;
  readonly hostname: string;
  readonly connection: string;
  readonly user: string;
  /** one line of authorized_keys */
  readonly publicKey: string;
}

export interface MachineAddresses {
  readonly publicAddress: string;
  readonly privateAddress: string;
  /** default: 22 */
  readonly sshPort?: number;
}

/** Where VMs run: containers, or nowhere. */
export interface Machines {
  /** Makes VMs that can be logged in to. Those that are there already are kept. @throws Error why one can't be made */
  create(desired: readonly DesiredMachine[]): Promise<Map<string, MachineAddresses>>;
  /** Ends VMs; those that are gone are no error. */
  remove(ids: readonly string[]): Promise<void>;
  /** An address for a load balancer, which all VMs and this machine reach. */
  balancerAddress(): Promise<string>;
  /** Shuts all VMs down; they come back with `create`. */
  powerOff(): Promise<void>;
}

/** VMs that have addresses and nothing behind them. */
export class FakeMachines implements Machines {
  private next = 1;
  private readonly addresses = new Map<string, MachineAddresses>();
  private balancers = 0;

  create(desired: readonly DesiredMachine[]): Promise<Map<string, MachineAddresses>> {
    for (const { id } of desired) {
      if (this.addresses.has(id)) continue;
      const [high, low] = [Math.floor(this.next / 250), (this.next % 250) + 1];
      this.next += 1;
      this.addresses.set(id, {
        publicAddress: `203.0.${113 + high}.${low}`,
        privateAddress: `10.99.${high}.${low}`,
      });
    }
    return Promise.resolve(
      new Map(desired.flatMap(({ id }) => [[id, this.addresses.get(id) as MachineAddresses] as const])),
    );
  }

  remove(ids: readonly string[]): Promise<void> {
    for (const id of ids) this.addresses.delete(id);
    return Promise.resolve();
  }

  balancerAddress(): Promise<string> {
    this.balancers += 1;
    return Promise.resolve(`127.77.0.${this.balancers}`);
  }

  powerOff(): Promise<void> {
    return Promise.resolve();
  }

  /** How many there are, for tests of leaks. */
  get count(): number {
    return this.addresses.size;
  }
}
