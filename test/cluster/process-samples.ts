import { readdirSync, readFileSync } from "node:fs";

const EVERY_MILLISECONDS = 100;

/**
 * The arguments of all processes of this machine, container nodes included, sampled while some work runs.
 * @returns what the work returns, and every command line that was seen
 */
export async function sampleProcesses<T>(
  work: Promise<T>,
): Promise<{ result: T; commandLines: Set<string> }> {
  const commandLines = new Set<string>();
  const timer = setInterval(() => readCommandLines(commandLines), EVERY_MILLISECONDS);
  try {
    return { result: await work, commandLines };
  } finally {
    clearInterval(timer);
  }
}

function readCommandLines(into: Set<string>): void {
  for (const entry of readdirSync("/proc")) {
    if (!/^\d+$/.test(entry)) continue;
    try {
      into.add(readFileSync(`/proc/${entry}/cmdline`, "utf8").replaceAll("\0", " "));
    } catch {
      // it ended between the listing and now
    }
  }
}
