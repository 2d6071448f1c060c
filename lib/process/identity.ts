import { execFileSync } from "node:child_process";
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";

/** A process; its start time distinguishes it from a later one with the same number. */
export interface ProcessIdentity {
  pid: number;
  /** opaque; only for comparison */
  startTime: string;
}

export interface ProcessFacts extends ProcessIdentity {
  parent: number;
  /** the program's name without its folder */
  command: string;
}

/** Returns the facts about a process, or undefined when no process has this number (a zombie does not count). */
export function readProcess(pid: number): ProcessFacts | undefined {
  return process.platform === "linux" ? readFromProc(pid) : readFromPs(pid);
}

/** Returns whether the process still runs. */
export function isAlive(identity: ProcessIdentity): boolean {
  return readProcess(identity.pid)?.startTime === identity.startTime;
}

/**
 * Returns the scope in which process numbers are unique: host, boot and (in containers) the PID namespace. A process of
 * another scope can't be looked up from here.
 */
export function processPlace(): string {
  if (process.platform !== "linux") return hostname();
  const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  return `${hostname()} ${boot} ${readlinkSync("/proc/self/ns/pid")}`;
}

function readFromProc(pid: number): ProcessFacts | undefined {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  } catch {
    return undefined;
  }
  // the name is in parentheses and may contain spaces and parentheses
  const command = stat.slice(stat.indexOf("(") + 1, stat.lastIndexOf(")"));
  const [state, parent, ...others] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  if (state === "Z" || state === "X") return undefined;
  return { pid, parent: Number(parent), command, startTime: others[17] ?? "" };
}

function readFromPs(pid: number): ProcessFacts | undefined {
  let line: string;
  try {
    const fields = ["-o", "ppid=", "-o", "state=", "-o", "lstart=", "-o", "comm="];
    line = execFileSync("ps", [...fields, "-p", String(pid)], {
      encoding: "utf8",
      env: { ...process.env, LC_ALL: "C" },
    });
  } catch {
    return undefined;
  }
  // lstart has five words: "Sat Nov 21 08:00:00 2026"
  const [parent, state, ...others] = line.trim().split(/\s+/);
  if (!parent || state?.startsWith("Z")) return undefined;
  const command = others.slice(5).join(" ").split("/").pop() ?? "";
  return { pid, parent: Number(parent), command, startTime: others.slice(0, 5).join(" ") };
}
