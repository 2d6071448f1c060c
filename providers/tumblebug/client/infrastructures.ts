import type { z } from "zod";
import type {
  Infrastructure,
  InfrastructureStatus,
  DesiredInfrastructure,
  VirtualMachine,
  DesiredVmGroup,
} from "../plan/model";
import { hasEnded } from "../plan/deletion";
import { readAnswer } from "./answer";
import type { TumblebugApi } from "./api";
import { deleteObject } from "./delete-object";
import type { Dialect } from "./dialect";
import { ReplyLost, TumblebugRefusal } from "./errors";
import { exists, isRefusal, readOrNothing } from "./existence";
import { makeOnce, type Looking } from "./make-once";
import type { Infrastructures } from "./tumblebug";

const GONE: readonly string[] = ["Terminated", "Terminating"];

/** Calls for MCIS and their VMs, or infras and their nodes. */
export class InfrastructureCalls implements Infrastructures {
  constructor(
    private readonly api: TumblebugApi,
    private readonly dialect: Dialect,
    private readonly looking: Looking,
  ) {}

  read(namespace: string, name: string): Promise<Infrastructure | undefined> {
    return this.readWith(namespace, name, "", this.dialect.infrastructure);
  }

  readStatus(namespace: string, name: string): Promise<InfrastructureStatus | undefined> {
    return this.readWith(namespace, name, "?option=status", this.dialect.infrastructureStatus);
  }

  create(namespace: string, desired: DesiredInfrastructure): Promise<Infrastructure> {
    return this.make(
      `/ns/${namespace}/${this.dialect.infrastructurePath}`,
      this.dialect.infrastructureRequest(desired),
      () => this.read(namespace, desired.name),
    );
  }

  async addGroup(namespace: string, name: string, group: DesiredVmGroup): Promise<Infrastructure> {
    return this.make(
      `${this.path(namespace, name)}/${this.dialect.machinePath}`,
      this.dialect.groupRequest(group),
      await this.lookForMore(namespace, name, group.name),
    );
  }

  async growGroup(namespace: string, name: string, group: string, count: number): Promise<Infrastructure> {
    return this.make(
      `${this.path(namespace, name)}/${this.dialect.groupPath}/${group}`,
      this.dialect.growthRequest(count),
      await this.lookForMore(namespace, name, group),
    );
  }

  readMachine(namespace: string, name: string, machine: string): Promise<VirtualMachine | undefined> {
    return readOrNothing(
      async () => {
        const path = this.machine(namespace, name, machine);
        const reply = await this.api.call({ method: "GET", path, isRepeatable: true });
        return readAnswer(`GET ${path}`, this.dialect.machine, reply);
      },
      this.dialect.saysNotFound,
      () => this.isMachineThere(namespace, name, machine),
    );
  }

  async deleteMachine(namespace: string, name: string, machine: string): Promise<boolean> {
    const read = () => this.readMachine(namespace, name, machine);
    try {
      return await deleteObject(this.api, {
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

  async control(
    namespace: string,
    name: string,
    action: "terminate" | "refine",
    { force = false }: { force?: boolean } = {},
  ): Promise<void> {
    const path =
      `/ns/${namespace}/control/${this.dialect.infrastructurePath}/${name}` +
      `?action=${action}${force ? "&force=true" : ""}`;
    // The server refuses a second request while the first is in progress, or after it terminated the VMs.
    const send = async (): Promise<ReplyLost | TumblebugRefusal | undefined> => {
      try {
        await this.api.call({ method: "GET", path, isRepeatable: false, isLong: true });
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

  delete(
    namespace: string,
    name: string,
    { option }: { option?: "terminate" | "force" } = {},
  ): Promise<boolean> {
    return deleteObject(this.api, {
      what: `the ${this.dialect.infrastructurePath} ${name}`,
      path: `${this.path(namespace, name)}${option === undefined ? "" : `?option=${option}`}`,
      isLong: true,
      isThere: () =>
        exists(this.api, `/ns/${namespace}/${this.dialect.checkInfrastructure}/${encodeURIComponent(name)}`),
    });
  }

  private readWith<T>(
    namespace: string,
    name: string,
    query: string,
    schema: z.ZodType<T>,
  ): Promise<T | undefined> {
    const path = `${this.path(namespace, name)}${query}`;
    return readOrNothing(
      async () => {
        const reply = await this.api.call({
          method: "GET",
          path,
          isRepeatable: true,
          isInfrastructureRead: true,
        });
        return readAnswer(`GET ${path}`, schema, reply);
      },
      this.dialect.saysNotFound,
      () =>
        exists(this.api, `/ns/${namespace}/${this.dialect.checkInfrastructure}/${encodeURIComponent(name)}`),
    );
  }

  private make(
    path: string,
    body: unknown,
    look: () => Promise<Infrastructure | undefined>,
  ): Promise<Infrastructure> {
    const { signal } = this.api.options;
    return makeOnce(
      async () => {
        const reply = await this.api.call({ method: "POST", path, body, isRepeatable: false, isLong: true });
        return readAnswer(`POST ${path}`, this.dialect.infrastructure, reply);
      },
      look,
      { looking: this.looking, ...(signal ? { signal } : {}) },
    );
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

  private isMachineThere(namespace: string, name: string, machine: string): Promise<boolean> {
    const { checkMachine } = this.dialect;
    return exists(this.api, `${this.path(namespace, name)}/${checkMachine}/${encodeURIComponent(machine)}`);
  }

  private machine(namespace: string, name: string, machine: string): string {
    return `${this.path(namespace, name)}/${this.dialect.machinePath}/${encodeURIComponent(machine)}`;
  }

  private path(namespace: string, name: string): string {
    return `/ns/${namespace}/${this.dialect.infrastructurePath}/${encodeURIComponent(name)}`;
  }
}
