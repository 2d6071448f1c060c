import { execFile } from "node:child_process";
import { setTimeout as wait } from "node:timers/promises";
import { messageOf } from "../../../lib/error-message";
import { fileFault } from "../../../lib/files";
import { displayLine } from "../../../lib/text/display";
import { plural } from "../../../lib/text/plural";
import type { Project } from "../../engine/pulumi";
import { askPerson } from "../../terminal/terminal";
import { awaitReadyNodes, awaitUrl } from "./gate-probes";
import type { Wave } from "../plan/fleet";
import { type GatePart, openParts, partWords } from "../plan/gate";

interface GateContext {
  readonly project: Project;
  /** Waves that the command line approves. */
  readonly approved: readonly string[];
  /** Parts that passed in an earlier run. */
  readonly passed: readonly GatePart[];
  /** Takes each part that passes. */
  readonly keep: (part: GatePart) => Promise<void>;
  readonly signal: AbortSignal;
  readonly say: (line: string) => void;
}

/** Default deadline of a part. */
const SECONDS = 600;

/** Checks one part of a wave's gate. @throws Error that says what keeps the gate shut */
export async function checkPart(
  { stacks, gate }: Wave,
  part: GatePart,
  { project, signal }: Pick<GateContext, "project" | "signal">,
): Promise<void> {
  if (gate === undefined) return;
  const { soakSeconds = 0, url = "", command = [], commandSeconds } = gate;
  const { nodesReadySeconds = SECONDS, urlSeconds = SECONDS } = gate;
  const checks: Record<GatePart, () => Promise<void>> = {
    soak: () => wait(soakSeconds * 1000, undefined, { signal }),
    nodesReady: () => awaitReadyNodes(project, stacks, nodesReadySeconds, signal),
    url: () => awaitUrl(url, urlSeconds, signal),
    command: () => runCommand(command, commandSeconds, project.folder, signal),
  };
  await checks[part]();
}

/** Checks the parts of a wave's gate that have not passed yet, and then asks for the approval. */
export async function checkGate(
  wave: Wave,
  { project, approved, passed, keep, signal, say }: GateContext,
): Promise<"passed" | "failed" | "waiting"> {
  const { name, gate } = wave;
  const title = `gate of ${name}`;
  if (gate === undefined) return "passed";
  for (const part of openParts(gate, passed)) {
    say(`${title}: ${partWords(gate, part)}`);
    try {
      await checkPart(wave, part, { project, signal });
    } catch (error) {
      if (signal.aborted) return "waiting";
      say(`${title}: failed: ${displayLine(messageOf(error))}`);
      return "failed";
    }
    if (signal.aborted) return "waiting";
    await keep(part);
  }
  if (gate.approval && !approved.includes(name)) {
    const answer = await askPerson(`${title}: go on with the next wave? [y/N] `);
    if (answer !== true) {
      say(`${title}: not approved; to go on: foresail fleet up --continue --approve ${name}`);
      return "waiting";
    }
  }
  say(`${title}: passed`);
  return "passed";
}

/** @throws Error that says why the command did not end with exit code 0 */
function runCommand(
  [program = "", ...args]: readonly string[],
  seconds: number,
  cwd: string,
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve, reject) => {
    execFile(program, args, { cwd, signal, timeout: seconds * 1000 }, (error, stdout, stderr) => {
      if (error === null) return resolve();
      const words = stderr.trim() || stdout.trim();
      const { code, killed } = error;
      const why = killed ? `no end within ${plural(seconds, "second")}` : `exit code ${code}`;
      reject(new Error(`${fileFault(error) ?? why}${words === "" ? "" : `: ${words.split("\n").at(-1)}`}`));
    });
  });
}
