import { readFileSync } from "node:fs";
import { arch, cpus, loadavg, release, totalmem, type } from "node:os";
import { setTimeout } from "node:timers/promises";
import type { Result } from "./results";

/** Above this load, other processes affect the measurement. */
const BUSY = 2;
/** Below this load, a machine is quiet. */
const QUIET = 1;
/** How long a measurement waits for a quiet machine, and between two looks, in milliseconds. */
const PATIENCE = 300_000;
const INTERVAL = 5_000;

/** Describes the machine without naming a user or a host. */
export function describeMachine(): string {
  const [first] = cpus();
  const gibibytes = Math.round(totalmem() / 2 ** 30);
  const model = first?.model.trim() ?? "";
  const cores = `${cpus().length} cores${model === "" || model === "unknown" ? "" : ` (${model})`}`;
  return `${cores}, ${gibibytes} GiB, ${type()} ${release().split("-")[0] ?? ""} ${arch()}`;
}

/** Describes the versions that affect the figures. */
export function describeVersions(): string {
  const packageOf = (name: string) =>
    (JSON.parse(readFileSync(require.resolve(`${name}/package.json`), "utf8")) as { version: string })
      .version;
  return `foresail ${packageOf("foresail")}, Pulumi ${packageOf("@pulumi/pulumi")}, Node ${process.versions.node}`;
}

/** Waits for a quiet machine before each run, and records the load. */
export class LoadNotes {
  private readonly loads: number[] = [];
  private patience = PATIENCE;

  /**
   * Waits until the load is below 1, and records it. The load that runs leave behind is waited for, too, but all waits
   * of a measurement take at most five minutes together. Warns when the machine is busy.
   */
  async settle(): Promise<void> {
    while (currentLoad() >= QUIET && this.patience > 0) {
      this.patience -= INTERVAL;
      await setTimeout(INTERVAL);
    }
    const load = currentLoad();
    this.loads.push(load);
    if (load > BUSY)
      console.error(`  the load average is ${load.toFixed(1)}: other work affects the measurement`);
  }

  get range(): Result["load"] {
    return [Math.min(...this.loads), Math.max(...this.loads)];
  }
}

function currentLoad(): number {
  const [load = 0] = loadavg();
  return load;
}
