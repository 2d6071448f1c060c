import { createHash } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { Durations } from "./durations";
import type { Faults } from "./faults";
import type { Machines } from "./machines";
import type { State, StoredInfrastructure, StoredMachine } from "./state";
import type { Wire } from "./wire";

/** How a call waits; tests count the time instead. */
export type Wait = (milliseconds: number, signal: AbortSignal) => Promise<void>;

const CONFIRMED = "This VM has been terminated. No action is acceptable except deletion";

/** Brings VMs from Creating to Running or Failed, and from Terminating to Terminated; continues after a restart. */
export class Lifecycle {
  private readonly works = new Set<Promise<void>>();
  private readonly endings = new Map<StoredMachine, Promise<void>>();
  private readonly ended = new AbortController();

  /**
   * @param whyNotMade why the server does not ask the cloud for a VM; undefined when it does
   * @param wait waits for some milliseconds, and throws when the signal aborts
   */
  constructor(
    private readonly state: State,
    private readonly machines: Machines,
    private readonly faults: Faults,
    private readonly durations: Durations,
    private readonly wire: Wire,
    private readonly whyNotMade: (namespace: string, machine: StoredMachine) => string | undefined,
    private readonly wait: Wait = (milliseconds, signal) => pause(milliseconds, undefined, { signal }),
  ) {}

  /** Continues what an earlier server had begun, and starts what was running. */
  resume(): void {
    const byInfrastructure = new Map<StoredInfrastructure, string>();
    for (const { namespace, infrastructure } of this.state.machines())
      byInfrastructure.set(infrastructure, namespace);
    for (const [infrastructure, namespace] of byInfrastructure) {
      const of = (...states: string[]) =>
        infrastructure.machines.filter(({ status, hasEnded }) => states.includes(status) && !hasEnded);
      this.behind(this.create(namespace, infrastructure, of("Creating", "Running")));
      this.behind(this.terminate(namespace, infrastructure, of("Terminating")));
    }
  }

  /** Waits until every VM is running or has failed: the call that creates VMs answers only then. */
  async create(
    namespace: string,
    infrastructure: StoredInfrastructure,
    wanted: readonly StoredMachine[],
  ): Promise<void> {
    for (const machine of wanted) {
      const why = machine.status === "Creating" ? this.whyNotMade(namespace, machine) : undefined;
      if (why === undefined) continue;
      machine.status = "Failed";
      machine.systemMessage = why;
    }
    const asked = wanted.filter(({ status }) => status !== "Failed");
    if (asked.some(({ status }) => status === "Creating")) await this.rest(this.durations.creation);
    const healthy = asked.filter((machine) => this.survives(machine));
    try {
      const addresses = await this.machines.create(
        healthy.map((machine) => this.machineSpec(namespace, infrastructure, machine)),
      );
      for (const machine of healthy) {
        const given = addresses.get(machineId(namespace, infrastructure.id, machine));
        if (given?.sshPort !== undefined) machine.sshPort = given.sshPort;
        this.run(machine, given?.publicAddress ?? "", given?.privateAddress ?? "");
      }
    } catch (error) {
      for (const machine of healthy)
        this.fail(machine, error instanceof Error ? error.message : String(error));
    }
    if (this.wire.generation === "infra" && wanted.every(({ status }) => status !== "Creating"))
      clearTarget(infrastructure);
    this.state.save();
  }

  /**
   * Terminates VMs.
   * @returns when these, and those that were terminating already, have ended
   * @param batches how many waits it takes; default one
   */
  async endMachines(
    namespace: string,
    infrastructure: StoredInfrastructure,
    wanted: readonly StoredMachine[],
    batches = 1,
  ): Promise<void> {
    const living = wanted.filter(
      ({ status, isMade, hasEnded }) => isMade && !hasEnded && status !== "Terminating",
    );
    for (const machine of living) {
      machine.status = "Terminating";
      machine.targetAction = "Terminate";
      machine.targetStatus = "Terminated";
    }
    this.state.save();
    const work = this.terminate(namespace, infrastructure, living, batches);
    for (const machine of living) this.endings.set(machine, work);
    this.behind(work);
    await Promise.all(wanted.flatMap((machine) => this.endings.get(machine) ?? []));
  }

  /**
   * What a read does before it answers: 0.7.0 asks the cloud for VMs whose end it has not seen yet, which takes long.
   */
  async confirm(infrastructure: StoredInfrastructure): Promise<void> {
    if (this.wire.generation === "infra") return;
    const unseen = infrastructure.machines.filter(
      ({ status, hasEnded }) => status === "Terminating" && hasEnded,
    );
    if (unseen.length > 0) await this.rest(this.durations.confirmation);
    for (const machine of unseen) {
      machine.status = "Terminated";
      machine.systemMessage = CONFIRMED;
    }
    if (infrastructure.machines.every(({ targetStatus }) => targetStatus === "None"))
      clearTarget(infrastructure);
    this.state.save();
  }

  /** Ends the machines of VMs, regardless of their status. */
  async discard(
    namespace: string,
    infrastructure: StoredInfrastructure,
    wanted: readonly StoredMachine[],
  ): Promise<void> {
    await this.machines.remove(wanted.map((machine) => machineId(namespace, infrastructure.id, machine)));
  }

  /** Waits for a duration of the recorded server. */
  async rest(milliseconds: number): Promise<void> {
    if (milliseconds > 0) await this.wait(milliseconds, this.ended.signal);
  }

  /** Ends all waiting; the records of unfinished work are kept. */
  async close(): Promise<void> {
    this.ended.abort();
    await Promise.all(this.works);
  }

  private async terminate(
    namespace: string,
    infrastructure: StoredInfrastructure,
    wanted: readonly StoredMachine[],
    batches = 1,
  ): Promise<void> {
    await this.rest(this.durations.termination * batches);
    const effects = new Map(
      wanted.map((machine) => [
        machine,
        this.faults.meetMachine(machine.id, ["stuck-terminating", "unnoticed-end"])?.kind,
      ]),
    );
    const willing = wanted.filter((machine) => effects.get(machine) !== "stuck-terminating");
    await this.discard(namespace, infrastructure, willing);
    for (const machine of willing) {
      machine.hasEnded = true;
      if (this.wire.generation === "mcis") continue;
      if (effects.get(machine) === undefined) machine.status = "Terminated";
      machine.targetAction = "None";
      machine.targetStatus = "None";
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
    if (effect?.kind === "failed") this.fail(machine, effect.systemMessage);
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
    machine.isMade = true;
    machine.createdTime ||= new Date().toISOString().slice(0, 19).replace("T", " ");
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

  /** Records that the cloud did not create it. */
  private fail(machine: StoredMachine, systemMessage: string): void {
    machine.status = "Failed";
    machine.systemMessage = systemMessage;
    if (this.wire.generation === "mcis") return;
    machine.targetAction = "None";
    machine.targetStatus = "";
  }

  private machineSpec(namespace: string, infrastructure: StoredInfrastructure, machine: StoredMachine) {
    const key = this.state.resource(namespace, "sshKey", machine.sshKey);
    return {
      id: machineId(namespace, infrastructure.id, machine),
      hostname: machine.id,
      connection: machine.connection,
      user: machine.user || "cb-user",
      publicKey: key?.publicKey ?? "",
    };
  }
}

/** Returns an identifier of a VM that the server never uses again; a valid DNS label. */
export function machineId(namespace: string, infrastructure: string, { id, uid }: StoredMachine): string {
  const hash = createHash("sha256").update(`${namespace}/${infrastructure}/${id}/${uid}`).digest("hex");
  return `vm-${hash.slice(0, 10)}`;
}

function clearTarget(infrastructure: StoredInfrastructure): void {
  infrastructure.targetAction = "None";
  infrastructure.targetStatus = "None";
}
