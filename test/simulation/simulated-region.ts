import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { ApiServerPrograms } from "./bare-api-server";
import { type Fault, FleetFiles } from "./fleet-files";
import { type JournalEntry, readJournal } from "./journal";
import type { FleetAddress } from "./simulated-fleet";

export interface RegionOptions {
  readonly programs: ApiServerPrograms;
  readonly machines: readonly string[];
  /** of the first machine; the other ports follow */
  readonly firstPort: number;
}

/** What the process of a region says when it runs. */
export interface RegionFacts {
  /** of its machines' files, which the test can read */
  readonly folder: string;
  readonly privateKey: string;
  readonly machines: readonly FleetAddress[];
}

/** Simulated machines in front of an API server, which only processes of the same network namespace reach. */
export class SimulatedRegion {
  readonly files: FleetFiles;

  private constructor(
    private readonly process: ChildProcess,
    private readonly facts: RegionFacts,
  ) {
    this.files = new FleetFiles(facts.folder);
  }

  /** @param within what precedes a command that runs in the region's namespace */
  static async start(within: readonly string[], options: RegionOptions): Promise<SimulatedRegion> {
    const [program = "", ...args] = [...within, process.execPath, join(__dirname, "region-process.js")];
    const child = spawn(program, args, { stdio: ["pipe", "pipe", "inherit"] });
    child.stdin.write(`${JSON.stringify(options)}\n`);
    const [first] = (await Promise.race([
      once(createInterface({ input: child.stdout }), "line"),
      once(child, "exit").then(([code]) => Promise.reject(new Error(`the region ended with ${code}`))),
    ])) as [string];
    return new SimulatedRegion(child, JSON.parse(first) as RegionFacts);
  }

  get privateKey(): string {
    return this.facts.privateKey;
  }

  /** @throws Error when the region has no such machine */
  machine(name: string): FleetAddress {
    const found = this.facts.machines.find((machine) => machine.name === name);
    if (!found) throw new Error(`the region has no machine ${name}`);
    return found;
  }

  get journal(): JournalEntry[] {
    return readJournal(this.files.journalLines);
  }

  inject(fault: Fault): void {
    this.files.inject(fault);
  }

  async stop(): Promise<void> {
    if (this.process.exitCode !== null || this.process.signalCode !== null) return;
    const ended = once(this.process, "exit");
    this.process.stdin?.end();
    await ended;
  }
}
