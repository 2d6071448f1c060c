import { readFileSync } from "node:fs";
import { arch, cpus, loadavg, release, totalmem, type } from "node:os";
import { setTimeout } from "node:timers/promises";
import type { Result } from "./results";

/** The part of all processors that other work may take: above, the machine is not quiet; far above, figures mislead. */
const QUIET = 0.1;
const BUSY = 0.5;
/** How long the processors are watched, and how long a run waits for a quiet machine, in milliseconds. */
const SAMPLE = 3_000;
const PATIENCE = 60_000;

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

/** Waits for a quiet machine before each run, and records how quiet it was. */
export class LoadNotes {
  private readonly loads: number[] = [];
  private readonly shares: number[] = [];

  /**
   * Watches the processors for three seconds, and again until they are idle, for a minute at most. The load average is
   * recorded only: for minutes, it still contains what the benchmark itself did before. Warns when the machine is busy.
   */
  async settle(): Promise<void> {
    const deadline = Date.now() + PATIENCE;
    let share = await busyShare();
    while (share > QUIET && Date.now() < deadline) share = await busyShare();
    this.shares.push(share);
    this.loads.push(loadavg()[0] ?? 0);
    if (share > BUSY)
      console.error(`  processors are ${Math.round(share * 100)} % busy: other work affects the measurement`);
  }

  get range(): Pick<Result, "load" | "busy"> {
    const between = (figures: readonly number[]) => [Math.min(...figures), Math.max(...figures)] as const;
    return { load: between(this.loads), busy: between(this.shares) };
  }
}

/** Returns the part of the time in which the processors worked while they were watched, from 0 to 1. */
async function busyShare(): Promise<number> {
  const before = processorTimes();
  await setTimeout(SAMPLE);
  const after = processorTimes();
  return 1 - (after.idle - before.idle) / (after.all - before.all);
}

function processorTimes(): { idle: number; all: number } {
  const times = cpus().map(({ times }) => times);
  const sum = (figures: readonly number[]) => figures.reduce((total, each) => total + each, 0);
  return { idle: sum(times.map(({ idle }) => idle)), all: sum(times.flatMap((each) => Object.values(each))) };
}
