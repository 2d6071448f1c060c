import { BareApiServer } from "../test/simulation/bare-api-server";
import { simulationPrograms } from "../test/simulation/programs";
import { SimulatedFleet } from "../test/simulation/simulated-fleet";
import type { StackContent } from "./stack";

/** Machines that answer SSH and an API server, without anything that runs on them. */
export class Simulation {
  private constructor(
    private readonly api: BareApiServer,
    private readonly fleet: SimulatedFleet,
    /** one control plane and the workers, in the order in which stacks use them */
    readonly names: readonly string[],
  ) {}

  /** @param workers how many machines there are beside the one control plane, at most */
  static async start(workers: number): Promise<Simulation> {
    const names = ["cp-1", ...Array.from({ length: workers }, (_, index) => `w-${index + 1}`)];
    const programs = await simulationPrograms();
    // no controllers: what they do is none of foresail's cost
    const api = await new BareApiServer({
      programs: { etcd: programs.etcd, kubeApiserver: programs.kubeApiserver },
    }).start();
    try {
      return new Simulation(api, await SimulatedFleet.start({ api, machines: names }), names);
    } catch (error) {
      await api.stop();
      throw error;
    }
  }

  /** The stack of the first so many machines. */
  content(machines: number): StackContent {
    return {
      privateKey: this.fleet.privateKey,
      cluster: {
        name: "bench",
        version: "1.36.3",
        source: { bundle: { path: "/opt/foresail/bundle/v1.36.3" } },
        network: { plugin: { bridge: {} } },
        machines: this.names.slice(0, machines).map((name) => this.machine(name)),
      },
    };
  }

  /** One machine as the configuration has it. */
  machine(name: string): Record<string, unknown> {
    const { apiServer, ...machine } = this.fleet.machine(name);
    const index = this.names.indexOf(name);
    const internalAddress = `10.0.${index >> 8}.${(index & 255) + 1}`;
    if (index === 0) return { ...machine, internalAddress, role: "control-plane", apiServer };
    return { ...machine, internalAddress, role: "worker" };
  }

  /** Makes a machine one on which the preparation has run. */
  markPrepared(name: string): void {
    const { files } = this.fleet;
    files.saveState(name, { ...files.state(name), prepared: true });
  }

  async stop(): Promise<void> {
    await this.fleet.stop();
    await this.api.stop();
  }
}
