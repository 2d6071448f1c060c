import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { gunzipSync } from "node:zlib";
import { createReporter } from "../../sandbox/progress";
import { ensureToolchain } from "../../sandbox/toolchain";

interface ServerOptions {
  /** Host and port. */
  readonly address: string;
  /** Where it listens; its own parts call each other on 127.0.0.1. Default: the address's host. */
  readonly listen?: string;
  /** A file for what the server has to keep. */
  readonly database: string;
  /** What precedes its commands, such as those of a network namespace. */
  readonly within?: readonly string[];
}

/** A real Temporal server, as its own command starts one for development. */
export class TemporalServer {
  private process: ChildProcess | undefined;

  private constructor(
    private readonly program: string,
    readonly options: ServerOptions,
  ) {}

  /** Builds the server's program at its first use, which takes minutes. */
  static async open(options: ServerOptions): Promise<TemporalServer> {
    const toolchain = await ensureToolchain({ programs: ["temporal"] }, createReporter());
    return new TemporalServer(toolchain.program("temporal"), options);
  }

  /** Starts it, with what it knew before, and waits until it answers. */
  async start(): Promise<void> {
    const [ip = "", port = ""] = this.options.address.split(":");
    const place = ["--ip", this.options.listen ?? ip, "--port", port];
    const args = ["server", "start-dev", "--headless", ...place];
    this.process = this.spawn([...args, "--db-filename", this.options.database], "ignore");
    await until(
      "the server answers",
      async () => (await this.call("operator", "cluster", "health")).code === 0,
    );
  }

  async kill(): Promise<void> {
    await kill(this.process);
  }

  /** Runs Temporal's own command. */
  async call(...args: string[]): Promise<{ code: number; stdout: string }> {
    const child = this.spawn([...args, "--address", this.options.address], "pipe");
    let stdout = "";
    child.stdout?.setEncoding("utf8").on("data", (text: string) => (stdout += text));
    const [code] = (await once(child, "close")) as [number | null];
    return { code: code ?? 1, stdout };
  }

  /** Returns the histories of all workflows, with the plans in them unpacked. */
  async histories(): Promise<string[]> {
    const { stdout } = await this.call("workflow", "list", "--limit", "100", "--output", "json");
    const runs = JSON.parse(stdout) as { execution: { workflowId: string; runId: string } }[];
    const texts: string[] = [];
    for (const { execution } of runs) {
      const of = ["--workflow-id", execution.workflowId, "--run-id", execution.runId];
      const { stdout } = await this.call("workflow", "show", ...of, "--output", "json");
      texts.push(opened(stdout));
    }
    return texts;
  }

  private spawn(args: readonly string[], output: "ignore" | "pipe"): ChildProcess {
    const [program = "", ...all] = [...(this.options.within ?? []), this.program, ...args];
    return spawn(program, all, { stdio: ["ignore", output, "ignore"] });
  }
}

/** Kills a process, and waits for its end. */
export async function kill(child: ChildProcess | undefined): Promise<void> {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  await ended;
}

/** Waits up to two minutes for a condition. */
export async function until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + 120_000; !(await isSo());) {
    assert.ok(Date.now() < deadline, `${what}: not within two minutes`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Returns a history with what is encoded and compressed in it behind it, in plain text. */
function opened(history: string): string {
  const encoded = [...history.matchAll(/[A-Za-z0-9+/]{16,}={0,2}/g)].map(([text]) =>
    Buffer.from(text, "base64"),
  );
  const inside = encoded.map((bytes) => bytes.toString("utf8"));
  const packed = [history, ...inside].flatMap((text) => [...text.matchAll(/H4sI[A-Za-z0-9+/]+={0,2}/g)]);
  const plans = packed.map(([text]) => gunzipSync(Buffer.from(text, "base64")).toString("utf8"));
  return [history, ...inside, ...plans].join("\n");
}
