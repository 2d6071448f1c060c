import { findRequestFault, isSpent, type Effect, type Happening, type RequestFault } from "../request-fault";

/** What can go wrong with a request to this server. */
export type TumblebugEffect =
  | Exclude<Effect, { readonly kind: "status" }>
  /** a response instead of the work: `message` as the server wraps it, or `text` unchanged */
  | {
      readonly kind: "status";
      readonly status: number;
      readonly message?: string;
      readonly text?: string;
      readonly headers?: Readonly<Record<string, string>>;
    }
  /** 202, and the work is done after the pause, behind the answer */
  | { readonly kind: "accepted"; readonly milliseconds: number }
  /** no answer at all, and nothing is carried out */
  | { readonly kind: "silence" };

export type TumblebugFault = RequestFault<TumblebugEffect>;

/** What can go wrong with a VM. */
type MachineEffect =
  /** it becomes Failed with this message of the cloud; the response is a success */
  | { readonly kind: "failed"; readonly systemMessage: string }
  | { readonly kind: "stuck-creating" }
  | { readonly kind: "stuck-terminating" }
  /** it ends in the cloud, and the newer server says "Terminating" until it is asked to terminate it again */
  | { readonly kind: "unnoticed-end" }
  /** it runs, and has its public address only later */
  | { readonly kind: "late-address"; readonly milliseconds: number }
  | { readonly kind: "no-private-address" };

export interface MachineFault {
  readonly effect: MachineEffect;
  /** a regular expression that the VM's name has to match */
  readonly machine: string;
  /** for how many VMs; absent: for all, until it is removed */
  readonly times?: number;
}

/** The requested faults. */
export class Faults {
  private requests: (TumblebugFault & Happening)[] = [];
  private ofMachines: (MachineFault & Happening)[] = [];
  private nextId = 1;
  /** Whether the server can't reach CB-Spider, and so no cloud. */
  isSpiderDown = false;
  /** Whether it answers as a release that foresail refuses: 0.9.4 of `mcis`, 0.12.8 of `infra`. */
  isOfRefusedRelease = false;

  add(fault: TumblebugFault): void {
    this.requests.push({ ...fault, id: this.nextId++, happened: 0 });
  }

  addForMachines(fault: MachineFault): void {
    this.ofMachines.push({ ...fault, id: this.nextId++, happened: 0 });
  }

  clear(): void {
    this.requests = [];
    this.ofMachines = [];
    this.isSpiderDown = false;
    this.isOfRefusedRelease = false;
  }

  /** Returns the fault of this request, and counts it. */
  meet(method: string, path: string): TumblebugEffect | undefined {
    const fault = findRequestFault(this.requests, { method, path });
    if (fault === undefined) return undefined;
    this.requests = this.requests.map((each) =>
      each.id === fault.id ? { ...each, happened: each.happened + 1 } : each,
    );
    return fault.effect;
  }

  /** Returns the fault of this VM's creation (or end), and counts it. */
  meetMachine(name: string, kinds: readonly MachineEffect["kind"][]): MachineEffect | undefined {
    const fault = this.ofMachines.find(
      (each) => kinds.includes(each.effect.kind) && new RegExp(each.machine).test(name) && !isSpent(each),
    );
    if (fault === undefined) return undefined;
    this.ofMachines = this.ofMachines.map((each) =>
      each.id === fault.id ? { ...each, happened: each.happened + 1 } : each,
    );
    return fault.effect;
  }

  /** Returns how often each fault happened, in the order of the requests. */
  happened(): number[] {
    return [...this.requests, ...this.ofMachines].sort((a, b) => a.id - b.id).map((each) => each.happened);
  }
}
