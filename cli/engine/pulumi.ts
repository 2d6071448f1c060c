import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { Readable, type Writable } from "node:stream";
import { readJsonOf } from "../../lib/json";
import { parseYaml } from "../../lib/yaml";
import { displayEngineLine } from "../../lib/text/display";
import { explainEngineError, ValueFilter, withoutValues } from "./engine-messages";
import { colorOfStream, isQuiet, onInterrupts } from "../terminal/terminal";
import { readFile } from "node:fs/promises";
import path from "node:path";

/** `pulumi` ended with an exit code other than 0; the message has the cause and the fix, or else its output. */
export class PulumiError extends Error {
  override readonly name = "PulumiError";
  /** Not shown with the error. */
  readonly #output: string;

  constructor(
    command: string,
    readonly exitCode: number,
    output: string,
  ) {
    const words = withoutValues(output);
    const unexplained = `pulumi ${command} failed (exit code ${exitCode})${words === "" ? "" : `:\n${words}`}`;
    super(explainEngineError(output) ?? unexplained);
    this.#output = output;
  }

  /** What the engine printed; it may contain the password of a backend. */
  get output(): string {
    return this.#output;
  }
}

interface PulumiAnswer {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

interface RunningPulumi {
  readonly child: ChildProcess;
  readonly ended: Promise<PulumiAnswer>;
}

/** Replaces lines of shown output: `line` returns what to show for one, `rest` what it kept back until the end. */
interface LineFilter {
  line(text: string): string[];
  rest(): string[];
}

interface PulumiCall {
  readonly project: Project;
  readonly args: readonly string[];
  /** Shows the engine's output while it runs; by default it is only returned. */
  readonly passThrough?: boolean;
  /** Filters the shown standard output. */
  readonly filter?: LineFilter;
  readonly environment?: NodeJS.ProcessEnv;
}

/** How much of the engine's output is kept, in characters; the state of thousands of resources has less. */
const MOST_OUTPUT = 2 ** 28;

const SHOW_ALL: LineFilter = { line: (text) => [text], rest: () => [] };

async function showLines(from: Readable, to: Writable, filter = SHOW_ALL): Promise<void> {
  const values = new ValueFilter();
  const show = (lines: string[]) => lines.forEach((line) => to.write(`${displayEngineLine(line)}\n`));
  const pass = (lines: string[]) => lines.forEach((line) => show(filter.line(line)));
  for await (const line of createInterface({ input: from })) pass(values.line(line));
  pass(values.rest());
  show(filter.rest());
}

/**
 * Starts `pulumi` in a process group of its own, so that an interrupt on the terminal reaches only foresail, which
 * decides how to handle it.
 */
export function startPulumi(call: PulumiCall): RunningPulumi {
  const { project, args, passThrough = false, filter, environment } = call;
  const color = passThrough ? colorOfStream(process.stdout) : "never";
  const child = spawn("pulumi", [...args, "--non-interactive", "--color", color], {
    cwd: project.folder,
    env: { ...fleetEnvironment(), ...environment },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  const output = { stdout: "", stderr: "" };
  const closed = (["stdout", "stderr"] as const).map(async (name) => {
    const stream = child[name].setEncoding("utf8");
    stream.on("data", (text: string) => {
      if (output[name].length < MOST_OUTPUT) output[name] += text;
    });
    const isClosed = once(stream, "close");
    if (passThrough && !isQuiet())
      await showLines(stream, process[name], name === "stdout" ? filter : undefined);
    await isClosed;
  });
  const ended = new Promise<PulumiAnswer>((resolve, reject) => {
    child.once("error", (error: NodeJS.ErrnoException) => {
      const isMissing = error.code === "ENOENT";
      const install = "pulumi is not on the PATH; see https://www.pulumi.com/docs/install/";
      reject(new Error(isMissing ? install : `pulumi cannot be started: ${error.message}`));
    });
    child.once("exit", (code, signal) => {
      // not 'close' alone: a plugin that outlives a killed engine keeps the pipes open
      const patience = new Promise((done) => setTimeout(done, 2_000).unref());
      void Promise.race([Promise.all(closed), patience]).then(async () => {
        const answer = { exitCode: code ?? (signal === null ? 1 : 128), ...output };
        if (passThrough && isQuiet() && answer.exitCode !== 0) {
          await showLines(Readable.from([answer.stdout]), process.stdout, filter);
          await showLines(Readable.from([answer.stderr]), process.stderr);
        }
        resolve(answer);
      });
    });
  });
  return { child, ended };
}

type QuietCall = Pick<PulumiCall, "project" | "args" | "environment">;

/** Runs `pulumi` to its end, with any exit code; passes interrupts on. */
export async function runPulumi(call: QuietCall): Promise<PulumiAnswer> {
  const { child, ended } = startPulumi(call);
  const forget = onInterrupts(() => child.kill("SIGINT"));
  try {
    return await ended;
  } finally {
    forget();
  }
}

/** Runs `pulumi` to its end. @throws PulumiError */
export async function callPulumi(call: QuietCall): Promise<PulumiAnswer> {
  const answer = await runPulumi(call);
  if (answer.exitCode === 0) return answer;
  const words = answer.stderr.trim() || answer.stdout.trim();
  const command = call.args.filter((word) => !word.startsWith("-")).slice(0, 2);
  throw new PulumiError(command.join(" "), answer.exitCode, words);
}

/**
 * Runs `pulumi` to its end, and returns the JSON that it printed: an object, or a list.
 *
 * @throws PulumiError, or Error for other output
 */
export async function callPulumiJson(call: QuietCall): Promise<object> {
  const { stdout } = await callPulumi(call);
  const command = ["pulumi", ...call.args.filter((word) => !word.startsWith("-")).slice(0, 2)].join(" ");
  const value = readJsonOf(`the output of ${command}`, stdout);
  if (typeof value === "object" && value !== null) return value;
  throw new Error(`the output of ${command} is neither an object nor a list`);
}

/** Returns the stack with this name, or the selected one. */
export async function findStack(project: Project, named: string | undefined): Promise<string> {
  if (named !== undefined) return named;
  const { stdout } = await callPulumi({ project, args: ["stack", "--show-name"] });
  return stdout.trim();
}

/**
 * Returns the state of a stack of the project that is found here.
 *
 * @param named the stack; undefined for the one that is selected
 * @param secrets for the plain text of its secrets
 */
export async function exportStack(
  named: string | undefined,
  ...secrets: "--show-secrets"[]
): Promise<{ project: Project; stack: string; exported: string }> {
  const project = await findProject();
  const stack = await findStack(project, named);
  const { stdout } = await callPulumi({ project, args: ["stack", "export", ...secrets, "--stack", stack] });
  return { project, stack, exported: stdout };
}

export interface Project {
  readonly folder: string;
  readonly name: string;
}

/**
 * Finds the nearest folder with a Pulumi.yaml, from here upwards, as `pulumi` does. @throws Error when there is none
 */
export async function findProject(from = process.cwd()): Promise<Project> {
  for (let folder = path.resolve(from); ; folder = path.dirname(folder)) {
    const text = await readFile(path.join(folder, "Pulumi.yaml"), "utf8").catch(() => undefined);
    if (text !== undefined) {
      const { name } = (parseYaml(text) ?? {}) as { name?: unknown };
      if (typeof name !== "string") throw new Error(`${path.join(folder, "Pulumi.yaml")} names no project`);
      return { folder, name };
    }
    if (path.dirname(folder) === folder)
      throw new Error(
        `there is no Pulumi.yaml in ${path.resolve(from)} or above it; run this in the project's folder`,
      );
  }
}

/** Returns NODE_OPTIONS that load the files, after the user's own options. */
export function preloading(files: readonly string[], own?: string): string {
  // Node.js accepts quoted paths with spaces, and requires escaped quotes and backslashes in them
  const quoted = files.map((file) => `--require "${file.replace(/["\\]/g, "\\$&")}"`);
  return [...(own ? [own] : []), ...quoted].join(" ");
}

/** Compiled files that the engine's Node.js processes load first; each describes its purpose. */
export const PRELOADED: readonly string[] = [
  "lazy-modules.js",
  "end-with-engine.js",
  "early-handlers.js",
].map((name) => path.join(__dirname, name));

/** Returns the user's environment for an engine that foresail starts; the user's own settings take precedence. */
export function fleetEnvironment(base: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv {
  const own = base["NODE_OPTIONS"];
  const missing = PRELOADED.filter((file) => !own?.includes(file));
  return {
    // diffs that read the live system run in parallel (docs/benchmarks.md)
    PULUMI_PARALLEL_DIFF: "true",
    PULUMI_SKIP_UPDATE_CHECK: "true",
    ...base,
    NODE_OPTIONS: preloading(missing, own),
  };
}

/**
 * How many objects the engine creates at once (`--parallel`). The engine's default is four for each processor of its
 * host, so half of twenty servers would wait for the other half. No variable sets it: PULUMI_OPTION_PARALLEL makes
 * Pulumi 3.230 panic.
 */
export const PARALLEL_OPERATIONS = 32;

/** The same value as arguments of `pulumi up` and `pulumi destroy`. */
export const PARALLEL_ARGUMENTS: readonly string[] = ["--parallel", String(PARALLEL_OPERATIONS)];
