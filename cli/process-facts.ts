import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import type { LockProcess } from "../lib/pulumi/backend-lock";

/** Linux reports start times in hundredths of a second, whatever the kernel's own tick is. */
const TICKS_PER_SECOND = 100;

/**
 * Looks up a process of this host. A zombie counts as gone.
 *
 * @param pid the process number
 */
export async function lookUpProcess(pid: number): Promise<LockProcess> {
  if (process.platform === "linux") return lookUpInProc(pid);
  return lookUpWithPs(pid);
}

async function lookUpInProc(pid: number): Promise<LockProcess> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => undefined);
  if (stat === undefined) return { alive: false };
  // the program's name is in parentheses and may contain spaces and parentheses: count fields after the last one
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  if (fields[0] === "Z" || fields[0] === "X") return { alive: false };
  const bootedAt = /^btime (\d+)$/m.exec(await readFile("/proc/stat", "utf8"))?.[1];
  const ticks = Number(fields[19]);
  if (bootedAt === undefined || !Number.isFinite(ticks)) return { alive: true };
  return { alive: true, startedAt: new Date((Number(bootedAt) + ticks / TICKS_PER_SECOND) * 1000) };
}

async function lookUpWithPs(pid: number): Promise<LockProcess> {
  try {
    const { stdout } = await promisify(execFile)("ps", ["-o", "stat=,lstart=", "-p", String(pid)], {
      timeout: 5_000,
      env: { ...process.env, LC_ALL: "C" },
    });
    const [state = "", ...started] = stdout.trim().split(/\s+/);
    if (state === "" || state.startsWith("Z")) return { alive: false };
    const startedAt = new Date(started.join(" "));
    return Number.isNaN(startedAt.getTime()) ? { alive: true } : { alive: true, startedAt };
  } catch {
    return { alive: false };
  }
}
