import { spawn } from "node:child_process";
import { mkdir, open, readFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { processBegan } from "./toolchain/lock";
import { writePrivate } from "./private-file";

/** The record of a process that was started in the background. */
interface RecordedProcess {
  readonly pid: number;
  /** When it began, in clock ticks since boot: a later process with the same number has another. */
  readonly began: string;
}

export interface ProcessSpec {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly environment: NodeJS.ProcessEnv;
  readonly folder: string;
}

const TERM_SECONDS = 15;
const TAIL_BYTES = 3000;

/** The background processes of one part of the sandbox, recorded in a file by name. */
export class Processes {
  constructor(
    private readonly file: string,
    private readonly logs: string,
  ) {}

  /** Returns all recorded processes, running or not. */
  async recorded(): Promise<Record<string, RecordedProcess>> {
    const text = await readFile(this.file, "utf8").catch(() => "{}");
    return JSON.parse(text) as Record<string, RecordedProcess>;
  }

  /** Returns the names of those that are running. */
  async running(): Promise<string[]> {
    const entries = Object.entries(await this.recorded());
    const alive = await Promise.all(entries.map(([, process]) => isOurs(process)));
    return entries.filter((_, index) => alive[index]).map(([name]) => name);
  }

  /** Starts a process in its own session, unless it is running. Its output goes to NAME.out in the log folder. */
  async start(spec: ProcessSpec): Promise<void> {
    if ((await this.running()).includes(spec.name)) return;
    await mkdir(this.logs, { recursive: true });
    const output = await open(this.outputFile(spec.name), "a", 0o600);
    try {
      const child = spawn(spec.command, spec.args, {
        cwd: spec.folder,
        env: spec.environment,
        detached: true,
        stdio: ["ignore", output.fd, output.fd],
      });
      await new Promise<void>((resolve, reject) => {
        child.once("spawn", resolve);
        child.once("error", reject);
      });
      child.unref();
      const pid = child.pid as number;
      await this.remember({
        ...(await this.recorded()),
        [spec.name]: { pid, began: await processBegan(pid) },
      });
    } finally {
      await output.close();
    }
  }

  /** Ends processes and all their children at once; removes the records of those that have ended. */
  async stop(names: readonly string[]): Promise<void> {
    const recorded = await this.recorded();
    await Promise.all(
      names.map(async (name) => {
        const process = recorded[name];
        if (process !== undefined) await end(process);
      }),
    );
    await this.remember(
      Object.fromEntries(Object.entries(recorded).filter(([name]) => !names.includes(name))),
    );
  }

  /** Returns the last lines of a process's log and output. */
  async tail(name: string): Promise<string> {
    const files = [path.join(this.logs, `${name}.log`), this.outputFile(name)];
    const texts = await Promise.all(files.map((file) => readFile(file, "utf8").catch(() => "")));
    return texts
      .map((text, index) => (text === "" ? "" : `${files[index]}:\n${text.slice(-TAIL_BYTES)}`))
      .join("");
  }

  private outputFile(name: string): string {
    return path.join(this.logs, `${name}.out`);
  }

  private async remember(processes: Record<string, RecordedProcess>): Promise<void> {
    await writePrivate(this.file, `${JSON.stringify(processes, undefined, 2)}\n`);
  }
}

async function isOurs({ pid, began }: RecordedProcess): Promise<boolean> {
  const now = await processBegan(pid);
  if (now === "" || now !== began) return false;
  // a zombie has ended
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  return stat !== "" && !/^\d+ \(.*\) Z /.test(stat);
}

async function end(process: RecordedProcess): Promise<void> {
  if (!(await isOurs(process))) return;
  signal(process.pid, "SIGTERM");
  const deadline = Date.now() + TERM_SECONDS * 1000;
  while (await isOurs(process)) {
    if (Date.now() > deadline) {
      signal(-process.pid, "SIGKILL");
      return;
    }
    await pause(50);
  }
  // the rest of its group
  signal(-process.pid, "SIGKILL");
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}
