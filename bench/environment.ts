import { readFileSync } from "node:fs";
import { arch, cpus, loadavg, release, totalmem, type } from "node:os";
import type { Result } from "./results";

/** Above this load, other processes affect the measurement. */
const BUSY = 2;

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

/** Records the load before each run, and warns when the machine is busy. */
export class LoadNotes {
  private readonly loads: number[] = [];

  note(): void {
    const [load = 0] = loadavg();
    this.loads.push(load);
    if (load > BUSY)
      console.error(`  the load average is ${load.toFixed(1)}: other work affects the measurement`);
  }

  get range(): Result["load"] {
    return [Math.min(...this.loads), Math.max(...this.loads)];
  }
}
