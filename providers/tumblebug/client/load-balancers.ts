import type { DesiredLoadBalancer, LoadBalancer } from "../plan/model";
import { list, record, text } from "./answer";
import { isRefusal } from "./errors";
import type { Requests } from "./requests";

const ids = record({ output: [list(text), "output"] });

/** Calls for load balancers of VM groups. */
export class LoadBalancers {
  constructor(private readonly requests: Requests) {}

  read(namespace: string, infrastructure: string, group: string): Promise<LoadBalancer | undefined> {
    const path = this.path(namespace, infrastructure, group);
    return this.requests.find(path, this.requests.dialect.loadBalancer, () =>
      this.isThere(namespace, infrastructure, group),
    );
  }

  /** @throws TumblebugRefusal "AlreadyExists" */
  create(namespace: string, infrastructure: string, desired: DesiredLoadBalancer): Promise<LoadBalancer> {
    const { loadBalancer, loadBalancerBody } = this.requests.dialect;
    return this.requests.create(
      this.path(namespace, infrastructure),
      loadBalancerBody(desired),
      loadBalancer,
      () => this.read(namespace, infrastructure, desired.group),
      { isLong: true },
    );
  }

  /** Adds VMs of the group; ignores those already added. */
  async addMachines(
    namespace: string,
    infrastructure: string,
    group: string,
    machines: readonly string[],
  ): Promise<void> {
    for (const machine of machines) await this.change("POST", namespace, infrastructure, group, machine);
  }

  async removeMachines(
    namespace: string,
    infrastructure: string,
    group: string,
    machines: readonly string[],
  ): Promise<void> {
    for (const machine of machines) await this.change("DELETE", namespace, infrastructure, group, machine);
  }

  /** @returns false if it did not exist */
  delete(namespace: string, infrastructure: string, group: string): Promise<boolean> {
    return this.requests.delete({
      what: `the load balancer of ${group}`,
      path: this.path(namespace, infrastructure, group),
      isLong: true,
      isThere: () => this.isThere(namespace, infrastructure, group),
    });
  }

  /**
   * Adds or removes one machine. The server refuses a whole list if one machine is already added or removed. It also
   * refuses a retry after a lost response, with a message that depends on the cloud, so this method then reads the
   * record.
   */
  private async change(
    method: "POST" | "DELETE",
    namespace: string,
    infrastructure: string,
    group: string,
    machine: string,
  ): Promise<void> {
    const { api, dialect } = this.requests;
    const path = `${this.path(namespace, infrastructure, group)}/${dialect.paths.machine}`;
    const body = dialect.balancedMachinesBody(machine);
    try {
      await api.call({ method, path, body, isRepeatable: true, isLong: true });
    } catch (error) {
      if (isRefusal(error, method === "POST" ? "AlreadyMember" : "NotMember")) return;
      if (!isRefusal(error, "Refused")) throw error;
      const found = await this.read(namespace, infrastructure, group);
      if (found?.machines.includes(machine) !== (method === "POST")) throw error;
    }
  }

  /**
   * Returns whether a load balancer exists, from the list, because the API has no existence check for load balancers.
   */
  private isThere(namespace: string, infrastructure: string, group: string): Promise<boolean> {
    const path = `${this.path(namespace, infrastructure)}?option=id`;
    return this.requests.orElse(false, ["NamespaceNotFound", "NotFound"], async () => {
      return (await this.requests.send(path, ids)).output.includes(group);
    });
  }

  private path(namespace: string, infrastructure: string, group?: string): string {
    const word = this.requests.dialect.paths.infrastructure;
    const folder = `/ns/${namespace}/${word}/${encodeURIComponent(infrastructure)}/nlb`;
    return group === undefined ? folder : `${folder}/${encodeURIComponent(group)}`;
  }
}
