import { Forwarder } from "./forwarder";
import type { State, StoredBalancer } from "./state";

/** The running load balancers: each one is a listener of this process. */
export class Balancers {
  private readonly forwarders = new Map<string, Forwarder>();

  constructor(private readonly state: State) {}

  /** Opens the recorded ones again. */
  async resume(): Promise<void> {
    for (const namespace of this.state.namespaces)
      for (const infrastructure of namespace.infrastructures)
        for (const balancer of infrastructure.balancers)
          await this.open(namespace.id, infrastructure.id, balancer).catch((error: unknown) =>
            console.error(error),
          );
  }

  /** @throws Error when it can't listen at its address */
  async open(namespace: string, infrastructure: string, balancer: StoredBalancer): Promise<void> {
    const forwarder = new Forwarder(() => this.targets(namespace, infrastructure, balancer.group));
    await forwarder.listen(balancer.address, balancer.port);
    this.forwarders.set(`${namespace}/${infrastructure}/${balancer.group}`, forwarder);
  }

  async close(namespace: string, infrastructure: string, group: string): Promise<void> {
    const key = `${namespace}/${infrastructure}/${group}`;
    await this.forwarders.get(key)?.close();
    this.forwarders.delete(key);
  }

  async closeAll(): Promise<void> {
    await Promise.all([...this.forwarders.values()].map((forwarder) => forwarder.close()));
    this.forwarders.clear();
  }

  private targets(namespace: string, infrastructure: string, group: string) {
    const found = this.state.infrastructure(namespace, infrastructure);
    const balancer = found?.balancers.find((each) => each.group === group);
    if (found === undefined || balancer === undefined) return [];
    return found.machines
      .filter(({ id, status }) => balancer.machines.includes(id) && status === "Running")
      .map(({ privateAddress }) => ({ host: privateAddress, port: balancer.targetPort }));
  }
}
