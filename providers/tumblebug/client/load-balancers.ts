import { z } from "zod";
import type { LoadBalancer, DesiredLoadBalancer } from "../plan/model";
import { list, readAnswer, text } from "./answer";
import type { TumblebugApi } from "./api";
import { deleteObject } from "./delete-object";
import type { Dialect } from "./dialect";
import { isRefusal, readOrNothing } from "./existence";
import { makeOnce, type Looking } from "./make-once";
import type { LoadBalancers } from "./tumblebug";

const ids = z.looseObject({ output: list(text) }).transform(({ output }) => output);

/** Calls for load balancers of VM groups. */
export class LoadBalancerCalls implements LoadBalancers {
  constructor(
    private readonly api: TumblebugApi,
    private readonly dialect: Dialect,
    private readonly looking: Looking,
  ) {}

  read(namespace: string, infrastructure: string, group: string): Promise<LoadBalancer | undefined> {
    return readOrNothing(
      async () => {
        const path = this.path(namespace, infrastructure, group);
        const reply = await this.api.call({ method: "GET", path, isRepeatable: true });
        return readAnswer(`GET ${path}`, this.dialect.loadBalancer, reply);
      },
      this.dialect.saysNotFound,
      () => this.isThere(namespace, infrastructure, group),
    );
  }

  create(namespace: string, infrastructure: string, desired: DesiredLoadBalancer): Promise<LoadBalancer> {
    const path = this.path(namespace, infrastructure);
    const { signal } = this.api.options;
    return makeOnce(
      async () => {
        const body = this.dialect.loadBalancerRequest(desired);
        const reply = await this.api.call({ method: "POST", path, body, isRepeatable: false, isLong: true });
        return readAnswer(`POST ${path}`, this.dialect.loadBalancer, reply);
      },
      () => this.read(namespace, infrastructure, desired.group),
      { looking: this.looking, ...(signal ? { signal } : {}) },
    );
  }

  async addMachines(
    namespace: string,
    infrastructure: string,
    group: string,
    machines: readonly string[],
  ): Promise<void> {
    for (const machine of machines)
      await this.change("POST", "AlreadyMember", namespace, infrastructure, group, machine);
  }

  async removeMachines(
    namespace: string,
    infrastructure: string,
    group: string,
    machines: readonly string[],
  ): Promise<void> {
    for (const machine of machines)
      await this.change("DELETE", "NotMember", namespace, infrastructure, group, machine);
  }

  delete(namespace: string, infrastructure: string, group: string): Promise<boolean> {
    return deleteObject(this.api, {
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
    done: "AlreadyMember" | "NotMember",
    namespace: string,
    infrastructure: string,
    group: string,
    machine: string,
  ): Promise<void> {
    try {
      await this.api.call({
        method,
        path: `${this.path(namespace, infrastructure, group)}/${this.dialect.machinePath}`,
        body: this.dialect.loadBalancerMachines([machine]),
        isRepeatable: true,
        isLong: true,
      });
    } catch (error) {
      if (isRefusal(error, done)) return;
      if (!isRefusal(error, "Refused")) throw error;
      const found = await this.read(namespace, infrastructure, group);
      if (found?.machines.includes(machine) !== (method === "POST")) throw error;
    }
  }

  /**
   * Returns whether a load balancer exists, from the list, because the API has no existence check for load balancers.
   */
  private async isThere(namespace: string, infrastructure: string, group: string): Promise<boolean> {
    const path = `${this.path(namespace, infrastructure)}?option=id`;
    try {
      const reply = await this.api.call({ method: "GET", path, isRepeatable: true });
      return readAnswer(`GET ${path}`, ids, reply).includes(group);
    } catch (error) {
      if (isRefusal(error, "NamespaceNotFound", "NotFound")) return false;
      throw error;
    }
  }

  private path(namespace: string, infrastructure: string, group?: string): string {
    const folder = `/ns/${namespace}/${this.dialect.infrastructurePath}/${encodeURIComponent(infrastructure)}/nlb`;
    return group === undefined ? folder : `${folder}/${encodeURIComponent(group)}`;
  }
}
