import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { displayLine } from "../../lib/text/display";

/** What is found about a program that foresail needs on this machine. */
export interface ToolFinding {
  readonly name: string;
  readonly level: "refused" | "warning";
  readonly sentence: string;
}

/** The oldest Node.js that runs foresail, as package.json says. */
const OLDEST_NODE = [20, 19] as const;
const SECONDS = 15;

/** Runs a program and returns what it printed. @throws Error with its last words */
async function run(program: string, ...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(program, args, { timeout: SECONDS * 1000, encoding: "utf8" });
  return stdout.trim();
}

const lastLine = (error: unknown) => {
  const { stderr = "", message } = error as { stderr?: string; message: string };
  return displayLine((stderr.trim() || message).split("\n").at(-1) ?? "").slice(0, 300);
};

/** Returns what is wrong with the version of Node.js. @param version "20.19.0" */
export function nodeFinding(version: string): ToolFinding[] {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [oldestMajor, oldestMinor] = OLDEST_NODE;
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return [];
  const sentence = `Node.js here is ${version}, and foresail needs ${OLDEST_NODE.join(".")} or newer. Install it: https://nodejs.org/en/download`;
  return [{ name: "Node.js", level: "refused", sentence }];
}

/**
 * Returns what is wrong with the programs here and with the backend of the state. Changes nothing.
 *
 * @param call runs a program
 */
export async function toolFindings(call: typeof run = run): Promise<ToolFinding[]> {
  const found = nodeFinding(process.versions.node);
  try {
    await call("pulumi", "version");
  } catch {
    const sentence =
      "pulumi could not be run here. Install it: https://www.pulumi.com/docs/install/, and see that it is in PATH";
    return [...found, { name: "Pulumi", level: "refused", sentence }];
  }
  try {
    await call("pulumi", "whoami", "--non-interactive");
  } catch (error) {
    const sentence = `the backend of the state could not be used: ${lastLine(error)}. Log in: pulumi login, or pulumi login file://FOLDER`;
    return [...found, { name: "backend", level: "refused", sentence }];
  }
  return found;
}
