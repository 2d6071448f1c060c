import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { newKey } from "../support/ssh-server";
import type { BareApiServer } from "./bare-api-server";
import { ClusterNodes } from "./cluster-nodes";
import { type FleetConfiguration, FleetFiles, type MachineState, type SimulatedMachine } from "./fleet-files";
import { SimulatedHost } from "./simulated-host";

/** A machine of a cloud, by its address. */
interface CloudMachine extends SimulatedMachine {
  readonly address: string;
  /** the key that logs in, "ssh-ed25519 AAAA…" */
  readonly userKey: string;
}

/** Machines with their keys, addresses and states. */
export interface SavedMachines {
  readonly machines: readonly CloudMachine[];
  readonly states: Readonly<Record<string, MachineState>>;
}

/** One that any user may listen on. */
export const SSH_PORT = 2222;
const API_SERVER_PORT = 6443;
/** Loopback addresses, so that every machine has the same ports. */
const addressOf = (index: number) => `127.14.0.${10 + index}`;

/** Simulated machines of a cloud, made one by one, in this process. */
export class SimulatedMachines {
  private readonly files = new FleetFiles(mkdtempSync(path.join(tmpdir(), "foresail-machines-")));
  private readonly reserved = new Map<string, string>();
  private readonly hosts = new Map<string, SimulatedHost>();
  private readonly nodes: ClusterNodes;
  private readonly configuration: Omit<FleetConfiguration, "userKey" | "machines"> & {
    machines: CloudMachine[];
  };

  constructor(api: BareApiServer, version: string) {
    this.nodes = new ClusterNodes(api.kubeconfigFile, version);
    this.configuration = {
      machines: [],
      kubeconfig: api.kubeconfigFile,
      apiServerPort: api.port,
      version,
      milliseconds: {},
      parent: { pid: process.pid, startTime: "" },
    };
  }

  /** Brings back the machines of an earlier run. */
  async restore({ machines, states }: SavedMachines): Promise<void> {
    for (const [name, state] of Object.entries(states)) this.files.saveState(name, state);
    for (const machine of machines) await this.run(machine);
  }

  /** The address that a machine will have, under a name of the caller's; the same until that is released. */
  reserve(port: string): string {
    const known = this.reserved.get(port);
    if (known !== undefined) return known;
    const { machines } = this.configuration;
    const used = new Set([...this.reserved.values(), ...machines.map(({ address }) => address)]);
    let index = 0;
    while (used.has(addressOf(index))) index += 1;
    this.reserved.set(port, addressOf(index));
    return addressOf(index);
  }

  hostKey(name: string): string | undefined {
    return this.configuration.machines.find((machine) => machine.name === name)?.hostKey.public;
  }

  /** Makes a machine, unless it exists. @param address default: a free one */
  async create(name: string, userKey: string, address = this.reserve(name)): Promise<CloudMachine> {
    const existing = this.configuration.machines.find((machine) => machine.name === name);
    if (existing) return existing;
    const machine = {
      name,
      address,
      sshPort: SSH_PORT,
      apiServerPort: API_SERVER_PORT,
      hostKey: newKey(),
      userKey,
    };
    await this.run(machine);
    return machine;
  }

  /** Stops a machine, which then answers on no port, or starts it again. */
  async setRunning(name: string, isRunning: boolean): Promise<void> {
    this.hosts.get(name)?.close();
    this.hosts.delete(name);
    const machine = this.configuration.machines.find((one) => one.name === name);
    if (isRunning && machine) await this.start(machine);
    await this.nodes.setReady(name, isRunning);
  }

  async remove(name: string): Promise<void> {
    this.hosts.get(name)?.close();
    this.hosts.delete(name);
    const { machines } = this.configuration;
    const index = machines.findIndex((machine) => machine.name === name);
    if (index >= 0) machines.splice(index, 1);
    this.files.forget(name);
    await this.nodes.setReady(name, false);
  }

  save(): SavedMachines {
    const { machines } = this.configuration;
    return {
      machines,
      states: Object.fromEntries(machines.map(({ name }) => [name, this.files.state(name)])),
    };
  }

  stop(): void {
    for (const host of this.hosts.values()) host.close();
    this.nodes.close();
    rmSync(this.files.folder, { recursive: true, force: true });
  }

  private async run(machine: CloudMachine): Promise<void> {
    this.configuration.machines.push(machine);
    await this.start(machine);
  }

  private async start(machine: CloudMachine): Promise<void> {
    const configuration = { ...this.configuration, userKey: machine.userKey };
    const host = new SimulatedHost(machine, this.files, configuration, this.nodes);
    this.hosts.set(machine.name, host);
    await host.listen();
  }
}
