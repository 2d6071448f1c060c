import { hasEnded } from "../plan/machine-plan";
import type { DesiredVmGroup, VirtualMachine } from "../plan/model";
import { list, record, answerText } from "./answer";
import type { DesiredLoadBalancer, Infrastructure, LoadBalancer } from "./dialect";
import { isRefusal, ReplyLost, TumblebugRefusal } from "./errors";
import { pathOf, type Item, type Requests } from "./requests";

const GONE: readonly string[] = ["Terminated", "Terminating"];
const IS_LONG = { isLong: true };

/**
 * Calls for MCIS and their VMs, or infras and their nodes. A creation returns after all VMs were attempted, which takes
 * minutes.
 */
export class Infrastructures {
  constructor(private readonly requests: Requests) {}

  /** Reads an infrastructure. The server allows two reads per second; further ones wait. */
  read(namespace: string, name: string): Promise<Infrastructure | undefined> {
    const { infrastructure } = this.requests.dialect;
    return this.requests.find(this.item(namespace, name), infrastructure, { isInfrastructureRead: true });
  }

  /**
   * Creates all VMs. A failed VM is not an error: it has status "Failed" and a reason in `systemMessage`. After a lost
   * response, the result may have VMs that are still being created.
   * @throws TumblebugRefusal "AlreadyExists", possibly because of the record of a failed creation
   */
  create(
    namespace: string,
    { name, description = "", groups }: { name: string; description?: string; groups: DesiredVmGroup[] },
  ): Promise<Infrastructure> {
    const { infrastructure, infrastructureBody } = this.requests.dialect;
    const body = infrastructureBody(name, description, groups);
    const look = () => this.read(namespace, name);
    return this.requests.create(this.path(namespace), body, infrastructure, look, IS_LONG);
  }

  /** Adds the VMs of a group to an infrastructure, also to an existing group. */
  async addGroup(namespace: string, name: string, group: DesiredVmGroup): Promise<Infrastructure> {
    const { infrastructure, groupBody } = this.requests.dialect;
    const membersOf = (found?: Infrastructure) =>
      (found?.machines ?? []).filter((one) => one.group === group.name).map((one) => one.name);
    const before = membersOf(await this.read(namespace, name));
    const look = async () => {
      const found = await this.read(namespace, name);
      return membersOf(found).some((machine) => !before.includes(machine)) ? found : undefined;
    };
    const path = this.path(namespace, name) + pathOf(this.requests.dialect.paths.machine);
    return this.requests.create(path, groupBody(group), infrastructure, look, IS_LONG);
  }

  readMachine(namespace: string, name: string, machine: string): Promise<VirtualMachine | undefined> {
    return this.requests.find(this.machine(namespace, name, machine), this.requests.dialect.machine);
  }

  /** Terminates and removes a VM and waits until it is gone, up to some minutes. @returns false if it did not exist */
  async deleteMachine(namespace: string, name: string, machine: string): Promise<boolean> {
    const read = () => this.readMachine(namespace, name, machine);
    try {
      return await this.requests.delete({
        ...this.machine(namespace, name, machine),
        isLong: true,
        isPatient: true,
        // The server's error is the same if the cloud refuses and if the deletion takes longer than the server waits.
        isEnding: async () => GONE.includes((await read())?.status ?? ""),
      });
    } catch (error) {
      const found = isRefusal(error, "Refused") ? await read() : undefined;
      // A server that lost a VM while it was created has no id to terminate it by, and refuses forever.
      if (found?.status === "Creating" && found.cloudId === "")
        return this.requests.delete({ ...this.machine(namespace, name, machine), query: "?option=force" });
      const words = found?.systemMessage;
      if (!(error instanceof TumblebugRefusal) || !words) throw error;
      throw new TumblebugRefusal(error.what, error.status, `${error.remote}: ${words}`, error.code);
    }
  }

  /**
   * Starts the termination of all VMs. Not retried like other GET requests, because it changes the infrastructure.
   * Terminating no VMs, or terminated ones, is not an error.
   * @returns the refusal of a request that had no VM left to terminate; its words name the VMs that the cloud does not have
   * @throws TumblebugRefusal "NotFound"; "NotAllowedNow" if a VM is being changed and `force` is not set
   */
  async terminate(
    namespace: string,
    name: string,
    { force = false } = {},
  ): Promise<TumblebugRefusal | undefined> {
    const { infrastructure } = this.requests.dialect.paths;
    let ignored: TumblebugRefusal | undefined;
    const query = `?action=terminate${force ? "&force=true" : ""}`;
    const path = pathOf("ns", namespace, "control", infrastructure, name) + query;
    // The server refuses a second request while the first is in progress, or after it terminated the VMs.
    const send = async (): Promise<ReplyLost | TumblebugRefusal | undefined> => {
      try {
        await this.requests.api.call({ method: "GET", path, isRepeatable: false, isLong: true });
        return undefined;
      } catch (error) {
        const mayBeDone = error instanceof ReplyLost || isRefusal(error, "NotAllowedNow", "Refused");
        if (!mayBeDone) throw error;
        const found = await this.read(namespace, name);
        if (!found?.machines.every((vm) => GONE.includes(vm.status) || hasEnded(vm))) return error;
        if (!(error instanceof ReplyLost)) ignored = error;
        return undefined;
      }
    };
    let failure = await send();
    if (failure instanceof ReplyLost) failure = await send();
    if (failure) throw failure;
    return ignored;
  }

  /** Whether the status "Terminated" means that the cloud has ended the VM. */
  get confirmsEnd(): boolean {
    return this.requests.dialect.confirmsEnd;
  }

  /** Checks as `checkClouds` for one VM, if it exists. */
  async checkCloudOf(namespace: string, name: string, machine: string): Promise<void> {
    const found = this.confirmsEnd ? undefined : await this.readMachine(namespace, name, machine);
    if (found) await this.checkClouds([found]);
  }

  /**
   * Checks that a server that does not confirm the end of VMs can reach the clouds that have them.
   * @throws TumblebugRefusal "SpiderDown", or "NotFound" if the server has lost a connection
   */
  async checkClouds(vms: readonly Pick<VirtualMachine, "connection" | "cloudId">[]): Promise<void> {
    if (this.confirmsEnd) return;
    const connections = vms.flatMap((vm) => (vm.cloudId === "" ? [] : vm.connection));
    for (const connection of new Set(connections))
      await this.requests.send(pathOf("connConfig", connection), this.requests.dialect.connection);
  }

  /**
   * Deletes the record with its load balancers and policies. With "force", ignores the status of VMs, which may remain
   * in the cloud.
   * @returns false if it did not exist
   * @throws TumblebugRefusal "NotAllowedNow" while a VM is not terminated, failed or undefined
   */
  delete(namespace: string, name: string, { force = false } = {}): Promise<boolean> {
    const query = force ? "?option=force" : "";
    return this.requests.delete({ ...this.item(namespace, name), query, isLong: true });
  }

  private item(namespace: string, name: string): Item {
    const { infrastructure, checkInfrastructure } = this.requests.dialect.paths;
    const isThere = () => this.requests.exists(pathOf("ns", namespace, checkInfrastructure, name));
    return { what: `the ${infrastructure} ${name}`, path: this.path(namespace, name), isThere };
  }

  private machine(namespace: string, name: string, machine: string): Item {
    const { machine: word, checkMachine } = this.requests.dialect.paths;
    const folder = this.path(namespace, name);
    const isThere = () => this.requests.exists(folder + pathOf(checkMachine, machine));
    return { what: `the VM ${machine}`, path: folder + pathOf(word, machine), isThere };
  }

  private path(namespace: string, name?: string): string {
    return pathOf("ns", namespace, this.requests.dialect.paths.infrastructure, name);
  }
}

const ids = record({ output: [list(answerText), "output"] });

/** A load balancer; there is one per VM group. */
type BalancerRef = readonly [namespace: string, infrastructure: string, group: string];

/** Calls for load balancers of VM groups. */
export class LoadBalancers {
  constructor(private readonly requests: Requests) {}

  read(...ref: BalancerRef): Promise<LoadBalancer | undefined> {
    return this.requests.find(this.item(ref), this.requests.dialect.loadBalancer);
  }

  /** @throws TumblebugRefusal "AlreadyExists" */
  create(namespace: string, infrastructure: string, desired: DesiredLoadBalancer): Promise<LoadBalancer> {
    const { loadBalancer, loadBalancerBody } = this.requests.dialect;
    const path = this.path(namespace, infrastructure);
    const look = () => this.read(namespace, infrastructure, desired.group);
    return this.requests.create(path, loadBalancerBody(desired), loadBalancer, look, IS_LONG);
  }

  /** Adds VMs of the group; ignores those already added. */
  async addMachines(...[namespace, infrastructure, group, machines]: [...BalancerRef, readonly string[]]) {
    for (const machine of machines) await this.change("POST", [namespace, infrastructure, group], machine);
  }

  /** Removes VMs; ignores those already removed. */
  async removeMachines(...[namespace, infrastructure, group, machines]: [...BalancerRef, readonly string[]]) {
    for (const machine of machines) await this.change("DELETE", [namespace, infrastructure, group], machine);
  }

  /** @returns false if it did not exist */
  delete(...ref: BalancerRef): Promise<boolean> {
    return this.requests.delete({ ...this.item(ref), isLong: true });
  }

  /**
   * Adds or removes one machine. The server refuses a whole list if one machine is already added or removed. It also
   * refuses a retry after a lost response, with a message that depends on the cloud, so this method then reads the
   * record.
   */
  private async change(method: "POST" | "DELETE", ref: BalancerRef, machine: string): Promise<void> {
    const { api, dialect } = this.requests;
    const path = this.path(...ref) + pathOf(dialect.paths.machine);
    const body = dialect.balancedMachinesBody(machine);
    try {
      await api.call({ method, path, body, isRepeatable: true, isLong: true });
    } catch (error) {
      if (isRefusal(error, method === "POST" ? "AlreadyMember" : "NotMember")) return;
      if (!isRefusal(error, "Refused")) throw error;
      const found = await this.read(...ref);
      if (found?.machines.includes(machine) !== (method === "POST")) throw error;
    }
  }

  /** Whether it exists is known from the list, because the API has no check for load balancers. */
  private item([namespace, infrastructure, group]: BalancerRef): Item {
    const list = `${this.path(namespace, infrastructure)}?option=id`;
    const isThere = () =>
      this.requests.orElse(false, ["NamespaceNotFound", "NotFound"], async () =>
        (await this.requests.send(list, ids)).output.includes(group),
      );
    const path = this.path(namespace, infrastructure, group);
    return { what: `the load balancer of ${group}`, path, isThere };
  }

  private path(namespace: string, infrastructure: string, group?: string): string {
    const word = this.requests.dialect.paths.infrastructure;
    return pathOf("ns", namespace, word, infrastructure, "nlb", group);
  }
}
