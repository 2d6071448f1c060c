import { spawn } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";
import { anySignal } from "../../lib/abort";
import { Transient, waitFor } from "../../lib/wait";

/** Check of a gate: a URL that answers 2xx, or a command that exits with 0. */
export type GateCheck = { url: string } | { command: string };

const TRY_SECONDS = 30;
const LAST_WORDS = 300;

/** Checks until the gate is open. @throws WaitTimeout with the gate's last output; the signal's reason */
export async function passGate(
  gate: GateCheck,
  options: { seconds: number; signal: AbortSignal; progress?: (line: string) => void },
): Promise<void> {
  const what = "url" in gate ? `the gate ${gate.url}` : `the gate \`${gate.command}\``;
  await waitFor<void>({
    ...options,
    what,
    firstPauseMilliseconds: 1000,
    longestPauseMilliseconds: 10_000,
    probe: async (signal) => {
      const limited = anySignal(signal, AbortSignal.timeout(TRY_SECONDS * 1000));
      const words =
        "url" in gate ? await askAddress(gate.url, limited) : await runCommand(gate.command, limited);
      return words === undefined ? { done: undefined } : { pending: words };
    },
  });
}

/** Waits for this many seconds. @throws the signal's reason */
export async function soak(seconds: number, signal: AbortSignal): Promise<void> {
  try {
    await pause(seconds * 1000, undefined, { signal });
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  }
}

async function askAddress(url: string, signal: AbortSignal): Promise<string | undefined> {
  try {
    const { ok, status, statusText } = await fetch(url, { signal, redirect: "follow" });
    return ok ? undefined : `it answered ${status} ${statusText}`.trimEnd();
  } catch (error) {
    const { message, cause } = error as Error;
    throw new Transient(cause instanceof Error ? `${message}: ${cause.message}` : message);
  }
}

function runCommand(command: string, signal: AbortSignal): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const child = spawn("sh", ["-c", command], { stdio: ["ignore", "pipe", "pipe"], signal });
    let words = "";
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (data: Buffer) => (words = (words + data.toString()).slice(-LAST_WORDS)));
    child.on("error", (error) => reject(new Transient(error.message)));
    child.on("close", (code) =>
      resolve(code === 0 ? undefined : `it ended with ${code ?? "a signal"}: ${words.trim() || "no words"}`),
    );
  });
}
