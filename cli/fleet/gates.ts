import { execFile } from "node:child_process";
import { setTimeout as wait } from "node:timers/promises";
import { fileFault } from "../../lib/files";
import { plural } from "../../lib/text/plural";
import { askPerson } from "../terminal";
import type { Gate } from "./plan/fleet";

interface GateContext {
  readonly folder: string;
  /** Waves that the command line approves. */
  readonly approved: readonly string[];
  readonly signal: AbortSignal;
  readonly say: (line: string) => void;
}

/** Checks the parts of a gate in their order: soak time, command, approval. */
export async function checkGate(
  wave: string,
  gate: Gate,
  { folder, approved, signal, say }: GateContext,
): Promise<"passed" | "failed" | "waiting"> {
  if (gate.soakSeconds !== undefined) {
    say(`gate of ${wave}: waiting ${plural(gate.soakSeconds, "second")}`);
    const isOver = await wait(gate.soakSeconds * 1000, true, { signal }).catch(() => false);
    if (!isOver) return "waiting";
  }
  if (gate.command !== undefined) {
    say(`gate of ${wave}: running ${gate.command.join(" ")}`);
    const failure = await runCommand(gate.command, gate.commandSeconds, folder, signal);
    if (signal.aborted) return "waiting";
    if (failure !== undefined) {
      say(`gate of ${wave}: failed: ${failure}`);
      return "failed";
    }
  }
  if (gate.approval && !approved.includes(wave)) {
    const answer = await askPerson(`gate of ${wave}: go on with the next wave? [y/N] `);
    if (answer !== true) {
      say(`gate of ${wave}: not approved; to go on: foresail fleet up --continue --approve ${wave}`);
      return "waiting";
    }
  }
  say(`gate of ${wave}: passed`);
  return "passed";
}

/** @returns why the command failed; undefined when it ended with exit code 0 */
function runCommand(
  [program = "", ...args]: readonly string[],
  seconds: number,
  cwd: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile(program, args, { cwd, signal, timeout: seconds * 1000 }, (error, stdout, stderr) => {
      if (error === null) return resolve(undefined);
      const words = stderr.trim() || stdout.trim();
      const { code, killed } = error;
      const why = killed ? `no end within ${plural(seconds, "second")}` : `exit code ${code}`;
      resolve(`${fileFault(error) ?? why}${words === "" ? "" : `: ${words.split("\n").at(-1)}`}`);
    });
  });
}
