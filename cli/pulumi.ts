import { type ChildProcess, spawn } from "node:child_process";
import { colourOfStream, onInterrupts } from "./terminal";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { parse } from "yaml";

/** `pulumi` ended with an exit code other than 0; the message contains its output. */
export class PulumiError extends Error {
  override readonly name = "PulumiError";

  constructor(
    command: string,
    readonly exitCode: number,
    words: string,
  ) {
    super(`pulumi ${command} failed (exit code ${exitCode})${words === "" ? "" : `:\n${words}`}`);
  }
}

/** The result of a finished call. */
interface PulumiAnswer {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A running engine. */
interface RunningPulumi {
  readonly child: ChildProcess;
  readonly ended: Promise<PulumiAnswer>;
}

interface PulumiCall {
  readonly project: Project;
  readonly args: readonly string[];
  /** Shows the engine's output while it runs; by default it is only returned. */
  readonly passThrough?: boolean;
  /**
   * Filters the shown output: `line` returns the replacement lines of each line, `rest` what it has kept back at the
   * end.
   */
  readonly filter?: { line(text: string): string[]; rest(): string[] };
}

/**
 * Starts `pulumi` in a process group of its own, so that an interrupt on the terminal reaches only foresail, which
 * decides how to handle it.
 */
export function startPulumi({ project, args, passThrough = false, filter }: PulumiCall): RunningPulumi {
  const child = spawn(
    "pulumi",
    [...args, "--non-interactive", "--color", passThrough ? colourOfStream(process.stdout) : "never"],
    {
      cwd: project.folder,
      env: fleetEnvironment(),
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    },
  );
  const output = { stdout: "", stderr: "" };
  const closed = (["stdout", "stderr"] as const).map((name) => {
    child[name].setEncoding("utf8");
    const show = (text: string) => process[name].write(text);
    const lines = filter && name === "stdout" ? new Lines(filter, show) : undefined;
    return new Promise<void>((resolve) => {
      child[name]
        .on("data", (text: string) => {
          output[name] += text;
          if (!passThrough) return;
          if (lines) lines.take(text);
          else show(text);
        })
        .on("close", () => {
          if (passThrough) lines?.end();
          resolve();
        });
    });
  });
  const ended = new Promise<PulumiAnswer>((resolve, reject) => {
    child.once("error", (error: NodeJS.ErrnoException) =>
      reject(
        error.code === "ENOENT"
          ? new Error("pulumi is not on the PATH; see https://www.pulumi.com/docs/install/")
          : new Error(`pulumi cannot be started: ${error.message}`),
      ),
    );
    child.once("exit", (code, signal) => {
      // not 'close' alone: a plugin that outlives a killed engine keeps the pipes open
      const patience = new Promise((done) => setTimeout(done, 2_000).unref());
      void Promise.race([Promise.all(closed), patience]).then(() =>
        resolve({ exitCode: code ?? (signal === null ? 1 : 128), ...output }),
      );
    });
  });
  return { child, ended };
}

/** Joins chunks of text into lines and shows the filter's output for each. */
class Lines {
  private begun = "";

  constructor(
    private readonly filter: NonNullable<PulumiCall["filter"]>,
    private readonly show: (text: string) => void,
  ) {}

  take(text: string): void {
    const lines = (this.begun + text).split("\n");
    this.begun = lines.pop() ?? "";
    for (const line of lines) for (const shown of this.filter.line(line)) this.show(`${shown}\n`);
  }

  end(): void {
    const last = this.begun === "" ? [] : this.filter.line(this.begun);
    this.begun = "";
    for (const shown of [...last, ...this.filter.rest()]) this.show(`${shown}\n`);
  }
}

/** Runs `pulumi` to its end, with any exit code; passes interrupts on. */
export async function runPulumi(call: PulumiCall): Promise<PulumiAnswer> {
  const { child, ended } = startPulumi(call);
  const forget = onInterrupts(() => child.kill("SIGINT"));
  try {
    return await ended;
  } finally {
    forget();
  }
}

/** Runs `pulumi` to its end. @throws PulumiError */
export async function callPulumi(call: PulumiCall): Promise<PulumiAnswer> {
  const answer = await runPulumi(call);
  if (answer.exitCode === 0) return answer;
  const words = call.passThrough === true ? "" : answer.stderr.trim() || answer.stdout.trim();
  throw new PulumiError(
    call.args
      .filter((word) => !word.startsWith("-"))
      .slice(0, 2)
      .join(" "),
    answer.exitCode,
    words,
  );
}

/** Returns the stack with this name, or the selected one. */
export async function findStack(project: Project, named: string | undefined): Promise<string> {
  if (named !== undefined) return named;
  const { stdout } = await callPulumi({ project, args: ["stack", "--show-name"] });
  return stdout.trim();
}

/** The Pulumi project of a command. */
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
      const { name } = (parse(text) ?? {}) as { name?: unknown };
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
export const PRELOADED: readonly string[] = ["lazy-closures.js", "end-with-engine.js"].map((name) =>
  path.join(__dirname, name),
);

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
