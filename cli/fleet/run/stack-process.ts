import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { redact } from "../../../lib/text/redaction";

/** A `foresail` for one stack. */
export interface StackProcess {
  readonly child: ChildProcess;
  /** The exit code. */
  readonly ended: Promise<number>;
}

/** This project's command. */
const COMMAND = path.join(__dirname, "..", "..", "cli.js");

/**
 * Starts `foresail` for a stack. It writes to a file, not to a pipe, so that it ends in order when the run of the fleet is
 * killed; and it has a process group of its own, so that an interrupt on the terminal reaches it once, by the run.
 *
 * @param output file for the standard output; default: the log, which has the errors
 */
export function startStackProcess(
  folder: string,
  args: readonly string[],
  log: string,
  output = log,
): StackProcess {
  const errors = openSync(log, "w", 0o600);
  const printed = output === log ? errors : openSync(output, "w", 0o600);
  const child = spawn(process.execPath, [COMMAND, ...args], {
    cwd: folder,
    stdio: ["ignore", printed, errors],
    detached: true,
  });
  for (const file of new Set([errors, printed])) closeSync(file);
  const ended = new Promise<number>((resolve) => {
    child.once("error", () => resolve(1));
    child.once("exit", (code) => resolve(code ?? 1));
  });
  return { child, ended };
}

/** Returns the last lines of a log that are not empty, without secrets, also those that go over several lines. */
export async function logTail(log: string, count = 8): Promise<string[]> {
  const text = await readFile(log, "utf8").catch(() => "");
  return redact(text)
    .split("\n")
    .filter((line) => line.trim() !== "")
    .slice(-count);
}
