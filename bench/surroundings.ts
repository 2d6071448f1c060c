import { readFileSync } from "node:fs";
import { arch, cpus, loadavg, release, totalmem, type } from "node:os";
import type { Result } from "./results";

/** Above this load the other processes are measured, too. */
const BUSY = 2;

/** The machine, in words that name no person and no host. */
export function describeMachine(): string {
  const [first] = cpus();
  const gibibytes = Math.round(totalmem() / 2 ** 30);
  const model = first?.model.trim() ?? "";
  const cores = `${cpus().length} cores${model === "" || model === "unknown" ? "" : ` (${model})`}`;
  return `${cores}, ${gibibytes} GiB, ${type()} ${release().split("-")[0] ?? ""} ${arch()}`;
}

/** The versions that matter to a figure. */
export function describeVersions(): string {
  const packageOf = (name: string) =>
    (JSON.parse(readFileSync(require.resolve(`${name}/package.json`), "utf8")) as { version: string })
      .version;
  return `foresail ${packageOf("foresail")}, Pulumi ${packageOf("@pulumi/pulumi")}, Node ${process.versions.node}`;
}

/** Notes the load before each run, and says when the machine is busy. */
export class LoadNotes {
  private readonly loads: number[] = [];

  note(): void {
    const [load = 0] = loadavg();
    this.loads.push(load);
    if (load > BUSY) console.error(`  the load average is ${load.toFixed(1)}: other work is measured, too`);
  }

  get range(): Result["load"] {
    return [Math.min(...this.loads), Math.max(...this.loads)];
  }
}
