import { readdirSync, readFileSync } from "node:fs";
import { readProcess } from "../lib/process/identity";

/** The processes of one `pulumi` command that grow with a stack. */
export const PARTS = ["engine", "program", "dynamic provider", "command plugin"] as const;
export type Part = (typeof PARTS)[number];

const SAMPLE_MILLISECONDS = 25;

/** Returns the part of a process by its command line; undefined for all others. */
export function partOf(commandLine: string): Part | undefined {
  if (/^(\S*\/)?pulumi\s/.test(commandLine)) return "engine";
  if (!/(^|\/)node\s/.test(commandLine)) return undefined;
  if (/cmd\/dynamic-provider/.test(commandLine)) return "dynamic provider";
  if (/command-plugin\/main\.js/.test(commandLine)) return "command plugin";
  if (/cmd\/run(\/|\s|$)/.test(commandLine)) return "program";
  return undefined;
}

/** Returns the peak of a process's resident memory in MB, as counted by the kernel; 0 when it has ended. */
function peakOf(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    return Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}

function commandLineOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
  } catch {
    return "";
  }
}

function isBelow(pid: number, ancestor: number): boolean {
  for (let at: number | undefined = pid; at !== undefined && at > 1; at = readProcess(at)?.parent)
    if (at === ancestor) return true;
  return false;
}

/** Follows the parts below this process until it is stopped; Linux only. */
export class MemoryWatch {
  private readonly peaks = new Map<Part, number>();
  private readonly known = new Map<number, Part | undefined>();
  private readonly timer = setInterval(() => this.sample(), SAMPLE_MILLISECONDS);

  /** @returns the peak of each part in MB */
  stop(): Map<Part, number> {
    clearInterval(this.timer);
    this.sample();
    return this.peaks;
  }

  private sample(): void {
    const pids = readdirSync("/proc").map(Number).filter(Number.isInteger);
    for (const pid of pids) {
      // a launcher replaces itself with node, so an unknown process may become a part later
      const part = this.known.get(pid) ?? partOf(commandLineOf(pid));
      if (part === undefined || (!this.known.has(pid) && !isBelow(pid, process.pid))) continue;
      this.known.set(pid, part);
      this.peaks.set(part, Math.max(this.peaks.get(part) ?? 0, peakOf(pid)));
    }
  }
}
