import type {
  DesiredInfrastructure,
  DesiredVmGroup,
  Infrastructure,
  InfrastructureStatus,
  VirtualMachine,
} from "../plan/model";
import { hasEnded } from "../plan/deletion";
import { isRefusal, ReplyLost, TumblebugRefusal } from "./errors";
import type { Requests } from "./requests";

const GONE: readonly string[] = ["Terminated", "Terminating"];

/**
 * Calls for MCIS and their VMs, or infras and their nodes. A creation returns after all VMs were attempted, which takes
 * minutes.
 */
export class Infrastructures {
  constructor(private readonly requests: Requests) {}

  /** Reads an infrastructure. The server allows two reads per second; further ones wait. */
  read(namespace: string, name: string): Promise<Infrastructure | undefined> {
    const path = this.path(namespace, name);
    return this.requests.find(path, this.dialect.infrastructure, () => this.isThere(namespace, name), {
      isInfrastructureRead: true,
    });
  }

  /** Reads the short status, with the same rate limit as `read`. */
  readStatus(namespace: string, name: string): Promise<InfrastructureStatus | undefined> {
    const path = `${this.path(namespace, name)}?option=status`;
    return this.requests.find(path, this.dialect.infrastructureStatus, () => this.isThere(namespace, name), {
      isInfrastructureRead: true,
    });
  }

  /**
   * Creates all VMs. A failed VM is not an error: it has status "Failed" and a reason in `systemMessage`. After a lost
   * response, the result may have VMs that are still being created.
   * @throws TumblebugRefusal "AlreadyExists", possibly because of the record of a failed creation
   */
  create(namespace: string, desired: DesiredInfrastructure): Promise<Infrastructure> {
    return this.make(this.path(namespace), this.dialect.infrastructureBody(desired), () =>
      this.read(namespace, desired.name),
    );
  }

  /** Adds the VMs of a group to an infrastructure, also to an existing group. */
  async addGroup(namespace: string, name: string, group: DesiredVmGroup): Promise<Infrastructure> {
    return this.make(
      this.machine(namespace, name),
      this.dialect.groupBody(group),
      await this.lookForMore(namespace, name, group.name),
    );
  }

  /** Adds `count` VMs to an existing group, with the next numbers. */
  async growGroup(namespace: string, name: string, group: string, count: number): Promise<Infrastructure> {
    return this.make(
      `${this.path(namespace, name)}/${this.dialect.paths.group}/${group}`,
      this.dialect.growthBody(count),
      await this.lookForMore(namespace, name, group),
    );
  }

  readMachine(namespace: string, name: string, machine: string): Promise<VirtualMachine | undefined> {
    return this.requests.find(this.machine(namespace, name, machine), this.dialect.machine, () =>
      this.isMachineThere(namespace, name, machine),
    );
  }

  /** Terminates and removes a VM and waits until it is gone, up to some minutes. @returns false if it did not exist */
  async deleteMachine(namespace: string, name: string, machine: string): Promise<boolean> {
    const read = () => this.readMachine(namespace, name, machine);
    try {
      return await this.requests.delete({
        what: `the VM ${machine}`,
        path: this.machine(namespace, name, machine),
        isLong: true,
        isPatient: true,
        isThere: () => this.isMachineThere(namespace, name, machine),
        // The server's error is the same if the cloud refuses and if the deletion takes longer than the server waits.
        isEnding: async () => GONE.includes((await read())?.status ?? ""),
      });
    } catch (error) {
      const words = isRefusal(error, "Refused") ? (await read())?.systemMessage : undefined;
      if (!(error instanceof TumblebugRefusal) || !words) throw error;
      throw new TumblebugRefusal(error.what, error.status, `${error.remote}: ${words}`, error.code);
    }
  }

  /**
   * Starts the termination of all VMs ("terminate"), or deletes the records of failed ones ("refine"). Not retried like
   * other GET requests, because it changes the infrastructure. Terminating no VMs, or terminated ones, is not an error.
   * @throws TumblebugRefusal "NotFound"; "NotAllowedNow" if a VM is being changed and `force` is not set
   */
  async control(
    namespace: string,
    name: string,
    action: "terminate" | "refine",
    { force = false }: { force?: boolean } = {},
  ): Promise<void> {
    const path =
      `/ns/${namespace}/control/${this.dialect.paths.infrastructure}/${name}` +
      `?action=${action}${force ? "&force=true" : ""}`;
    // The server refuses a second request while the first is in progress, or after it terminated the VMs.
    const send = async (): Promise<ReplyLost | TumblebugRefusal | undefined> => {
      try {
        await this.requests.api.call({ method: "GET", path, isRepeatable: false, isLong: true });
        return undefined;
      } catch (error) {
        const mayBeDone = error instanceof ReplyLost || isRefusal(error, "NotAllowedNow", "Refused");
        if (!mayBeDone) throw error;
        return (await this.tookEffect(namespace, name, action)) ? undefined : error;
      }
    };
    let failure = await send();
    if (failure instanceof ReplyLost) failure = await send();
    if (failure) throw failure;
  }

  /**
   * Deletes the record with its load balancers and policies. With "terminate", terminates all VMs first. With "force",
   * ignores the status of VMs, which may remain in the cloud.
   * @returns false if it did not exist
   * @throws TumblebugRefusal "NotAllowedNow" while a VM is not terminated, failed or undefined
   */
  delete(
    namespace: string,
    name: string,
    { option }: { option?: "terminate" | "force" } = {},
  ): Promise<boolean> {
    return this.requests.delete({
      what: `the ${this.dialect.paths.infrastructure} ${name}`,
      path: `${this.path(namespace, name)}${option === undefined ? "" : `?option=${option}`}`,
      isLong: true,
      isThere: () => this.isThere(namespace, name),
    });
  }

  private make(
    path: string,
    body: object,
    look: () => Promise<Infrastructure | undefined>,
  ): Promise<Infrastructure> {
    return this.requests.create(path, body, this.dialect.infrastructure, look, { isLong: true });
  }

  /** Returns a function that reads the infrastructure if the group has new VMs since this call, or else undefined. */
  private async lookForMore(
    namespace: string,
    name: string,
    group: string,
  ): Promise<() => Promise<Infrastructure | undefined>> {
    const membersOf = (found: Infrastructure | undefined) =>
      (found?.machines ?? []).filter((machine) => machine.group === group).map((machine) => machine.name);
    const before = membersOf(await this.read(namespace, name));
    return async () => {
      const found = await this.read(namespace, name);
      return membersOf(found).some((machine) => !before.includes(machine)) ? found : undefined;
    };
  }

  private async tookEffect(
    namespace: string,
    name: string,
    action: "terminate" | "refine",
  ): Promise<boolean> {
    const found = await this.read(namespace, name);
    if (!found) return false;
    return action === "terminate"
      ? found.machines.every((vm) => GONE.includes(vm.status) || hasEnded(vm))
      : !found.machines.some(({ status }) => status === "Failed" || status === "Undefined");
  }

  private isThere(namespace: string, name: string): Promise<boolean> {
    const { checkInfrastructure } = this.dialect.paths;
    return this.requests.exists(`/ns/${namespace}/${checkInfrastructure}/${encodeURIComponent(name)}`);
  }

  private isMachineThere(namespace: string, name: string, machine: string): Promise<boolean> {
    const { checkMachine } = this.dialect.paths;
    return this.requests.exists(
      `${this.path(namespace, name)}/${checkMachine}/${encodeURIComponent(machine)}`,
    );
  }

  private machine(namespace: string, name: string, machine?: string): string {
    const folder = `${this.path(namespace, name)}/${this.dialect.paths.machine}`;
    return machine === undefined ? folder : `${folder}/${encodeURIComponent(machine)}`;
  }

  private path(namespace: string, name?: string): string {
    const folder = `/ns/${namespace}/${this.dialect.paths.infrastructure}`;
    return name === undefined ? folder : `${folder}/${encodeURIComponent(name)}`;
  }

  private get dialect() {
    return this.requests.dialect;
  }
}
