import { createHash } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { Faults } from "./faults";
import type { Machines } from "./machines";
import type { State, StoredInfrastructure, StoredMachine } from "./state";

/** How long the pretended clouds take, in milliseconds. */
export interface Delays {
  /** from the request to a VM that runs, besides what its container takes */
  readonly creation: number;
  readonly termination: number;
}

/** Brings VMs from Creating to Running or Failed, and from Terminating to Terminated; after a restart it goes on. */
export class Lifecycle {
  private readonly works = new Set<Promise<void>>();
  private readonly endings = new Map<StoredMachine, Promise<void>>();
  private readonly ended = new AbortController();

  constructor(
    private readonly state: State,
    private readonly machines: Machines,
    private readonly faults: Faults,
    private readonly delays: Delays,
  ) {}

  /** Goes on with what a server before this one had begun, and starts what ran. */
  resume(): void {
    const byInfrastructure = new Map<StoredInfrastructure, string>();
    for (const { namespace, infrastructure } of this.state.machines())
      byInfrastructure.set(infrastructure, namespace);
    for (const [infrastructure, namespace] of byInfrastructure) {
      const of = (...states: string[]) =>
        infrastructure.machines.filter(({ status }) => states.includes(status));
      this.behind(this.create(namespace, infrastructure, of("Creating", "Running")));
      this.behind(this.terminate(namespace, infrastructure, of("Terminating")));
    }
  }

  /** Waits until every VM runs or has failed: the call that makes VMs answers only then. */
  async create(
    namespace: string,
    infrastructure: StoredInfrastructure,
    wanted: readonly StoredMachine[],
  ): Promise<void> {
    if (wanted.length === 0) return;
    const fresh = wanted.filter(({ status }) => status === "Creating");
    if (fresh.length > 0) await this.rest(this.delays.creation);
    const healthy = wanted.filter((machine) => this.survives(machine));
    try {
      const addresses = await this.machines.create(
        healthy.map((machine) => this.wish(namespace, infrastructure, machine)),
      );
      for (const machine of healthy) {
        const given = addresses.get(machineId(namespace, infrastructure.id, machine));
        this.run(machine, given?.publicAddress ?? "", given?.privateAddress ?? "");
      }
    } catch (error) {
      for (const machine of healthy) fail(machine, error instanceof Error ? error.message : String(error));
    }
    if (wanted.every(({ status }) => status !== "Creating")) settle(infrastructure);
    this.state.save();
  }

  /** Begins to terminate VMs. @returns when these, and those that were on their way already, are terminated */
  async beginTermination(
    namespace: string,
    infrastructure: StoredInfrastructure,
    wanted: readonly StoredMachine[],
  ): Promise<void> {
    const living = wanted.filter(({ status }) => status !== "Terminated" && status !== "Terminating");
    for (const machine of living) {
      machine.status = "Terminating";
      machine.targetAction = "Terminate";
      machine.targetStatus = "Terminated";
    }
    this.state.save();
    const work = this.terminate(namespace, infrastructure, living);
    for (const machine of living) this.endings.set(machine, work);
    this.behind(work);
    await Promise.all(wanted.flatMap((machine) => this.endings.get(machine) ?? []));
  }

  /** Ends what VMs are, whatever their status. */
  async discard(
    namespace: string,
    infrastructure: StoredInfrastructure,
    wanted: readonly StoredMachine[],
  ): Promise<void> {
    await this.machines.remove(wanted.map((machine) => machineId(namespace, infrastructure.id, machine)));
  }

  /** Ends all waiting; what was begun stays as it is on record. */
  async close(): Promise<void> {
    this.ended.abort();
    await Promise.all(this.works);
  }

  private async terminate(
    namespace: string,
    infrastructure: StoredInfrastructure,
    wanted: readonly StoredMachine[],
  ): Promise<void> {
    if (wanted.length === 0) return;
    const willing = wanted.filter(
      ({ id }) => this.faults.meetMachine(id, ["stuck-terminating"]) === undefined,
    );
    await this.rest(this.delays.termination);
    await this.discard(namespace, infrastructure, willing);
    for (const machine of willing) {
      machine.status = "Terminated";
      machine.targetAction = "None";
      machine.targetStatus = "None";
      machine.publicAddress = "";
      machine.privateAddress = "";
    }
    this.state.save();
  }

  private behind(work: Promise<void>): void {
    const watched = work
      .catch((error: unknown) => {
        if (!this.ended.signal.aborted) console.error(error);
      })
      .finally(() => this.works.delete(watched));
    this.works.add(watched);
  }

  private survives(machine: StoredMachine): boolean {
    if (machine.status !== "Creating") return true;
    const effect = this.faults.meetMachine(machine.id, ["failed", "stuck-creating"]);
    if (effect?.kind === "failed") fail(machine, effect.systemMessage);
    return effect === undefined;
  }

  private run(machine: StoredMachine, publicAddress: string, privateAddress: string): void {
    const effect =
      machine.status === "Creating"
        ? this.faults.meetMachine(machine.id, ["late-address", "no-private-address"])
        : undefined;
    machine.status = "Running";
    machine.targetAction = "None";
    machine.targetStatus = "None";
    machine.publicAddress = effect?.kind === "late-address" ? "" : publicAddress;
    machine.privateAddress = effect?.kind === "no-private-address" ? "" : privateAddress;
    if (effect?.kind !== "late-address") return;
    this.behind(
      this.rest(effect.milliseconds).then(() => {
        machine.publicAddress = publicAddress;
        this.state.save();
      }),
    );
  }

  private wish(namespace: string, infrastructure: StoredInfrastructure, machine: StoredMachine) {
    const key = this.state.resource(namespace, "sshKey", machine.sshKey);
    return {
      id: machineId(namespace, infrastructure.id, machine),
      hostname: machine.id,
      connection: machine.connection,
      user: machine.user || "cb-user",
      publicKey: key?.publicKey ?? "",
    };
  }

  private async rest(milliseconds: number): Promise<void> {
    if (milliseconds > 0) await pause(milliseconds, undefined, { signal: this.ended.signal });
  }
}

/** What tells a VM from all others of the server, now and later; no longer than a DNS label may be. */
export function machineId(namespace: string, infrastructure: string, { id, uid }: StoredMachine): string {
  const hash = createHash("sha256").update(`${namespace}/${infrastructure}/${id}/${uid}`).digest("hex");
  return `vm-${hash.slice(0, 10)}`;
}

function fail(machine: StoredMachine, systemMessage: string): void {
  machine.status = "Failed";
  machine.targetAction = "None";
  machine.targetStatus = "None";
  machine.systemMessage = systemMessage;
}

function settle(infrastructure: StoredInfrastructure): void {
  infrastructure.targetAction = "None";
  infrastructure.targetStatus = "None";
}
