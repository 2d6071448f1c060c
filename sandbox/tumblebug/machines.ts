/** A desired VM. */
export interface DesiredMachine {
  /** a DNS label that is unique among all VMs of the server */
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

/** The machines behind VMs: containers, or none. */
export interface Machines {
  /** Creates VMs that accept logins. Keeps existing ones. @throws Error with the reason why one can't be created */
  create(desired: readonly DesiredMachine[]): Promise<Map<string, MachineAddresses>>;
  /** Ends VMs; ignores those that are gone. */
  remove(ids: readonly string[]): Promise<void>;
  /** Returns an address for a load balancer that all VMs and this machine can reach. */
  balancerAddress(): Promise<string>;
  /** Shuts all VMs down; `create` starts them again. */
  powerOff(): Promise<void>;
}

/** VMs that have addresses, but no machines. */
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

  /** Returns the number of VMs, for leak tests. */
  get count(): number {
    return this.addresses.size;
  }
}
