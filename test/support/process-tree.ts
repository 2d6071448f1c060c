import { readdirSync, readFileSync } from "node:fs";
import { isAlive, type ProcessFacts, readProcess } from "../../lib/process/identity";
import { waitFor } from "../../lib/wait";

/** All processes that descend from one, the nearest first. Linux only, as the whole simulation is. */
export function descendants(of: number): ProcessFacts[] {
  const all = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => readProcess(Number(name)) ?? []);
  const found: ProcessFacts[] = [];
  for (let parents = [of]; parents.length > 0;) {
    const children = all.filter(({ parent }) => parents.includes(parent));
    found.push(...children);
    parents = children.map(({ pid }) => pid);
  }
  return found;
}

/** Kills a process that still is the one that was seen. */
export function killProcess(identity: ProcessFacts): void {
  try {
    if (isAlive(identity)) process.kill(identity.pid, "SIGKILL");
  } catch {
    // it ended between the check and the kill
  }
}

/** Waits until none of them runs any more. @throws WaitTimeout naming those that do */
export async function untilEnded(processes: ProcessFacts[], seconds: number): Promise<void> {
  await waitFor({
    what: "the orphans to end",
    seconds,
    firstPauseMilliseconds: 20,
    longestPauseMilliseconds: 100,
    probe: () => {
      const living = processes.filter(isAlive);
      if (living.length === 0) return Promise.resolve({ done: true });
      return Promise.resolve({ pending: living.map(({ command, pid }) => `${command} ${pid}`).join(", ") });
    },
  });
}

/** The command lines of these processes, as `ps` shows them to every user of the machine. */
export function commandLines(processes: ProcessFacts[]): string[] {
  return processes.flatMap(({ pid }) => {
    try {
      return [readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ")];
    } catch {
      return [];
    }
  });
}
