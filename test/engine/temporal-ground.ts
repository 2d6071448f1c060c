import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { tmpdir } from "node:os";
import path from "node:path";
import { gunzipSync } from "node:zlib";
import { stringify } from "yaml";
import { freePorts } from "../../sandbox/management/api-server";
import { ensureToolchain } from "../../sandbox/toolchain";
import { createReporter } from "../../sandbox/progress";
import { removeFolder } from "./compiled-clone";
import { FleetCommand } from "./fleet-command";
import { readJournal, writeJournalProject } from "./journal-project";
import { engineToolchain } from "./simulated-fixture";
import { TestStack } from "./test-stack";

/** The value of a secret of each stack, and the passphrase that encrypts it. */
export const SECRETS = ["a-token-of-the-stack", "a passphrase for tests"];

/** A project whose waves a real Temporal server runs. */
export class TemporalGround {
  private server: ChildProcess | undefined;
  private readonly workers = new Set<ChildProcess>();
  fleet!: FleetCommand;
  temporal = "";
  address = "";

  constructor(readonly folder = mkdtempSync(path.join(tmpdir(), "foresail-temporal-"))) {}

  at(name: string): string {
    return path.join(this.folder, name);
  }

  /** Makes the stacks, each with the label of its region, and writes the waves. */
  async make(regions: Readonly<Record<string, string>>, waves: readonly object[]): Promise<void> {
    writeJournalProject(this.folder, { holdSeconds: 120, secret: "token" });
    this.address = `127.0.0.1:${(await freePorts(1))[0]}`;
    writeFileSync(
      this.at("fleet.yaml"),
      stringify({ maxParallel: 3, runner: { temporal: { address: this.address } }, waves }),
    );
    const toolchain = await engineToolchain();
    this.temporal = (await ensureToolchain({ programs: ["temporal"] }, createReporter())).program("temporal");
    for (const [name, region] of Object.entries(regions)) {
      const stack = await new TestStack(
        { folder: this.folder, project: "waves", stack: name },
        toolchain,
      ).create();
      await stack.setSecret("token", SECRETS[0]!);
      const file = this.at(`Pulumi.${name}.yaml`);
      writeFileSync(file, `${readFileSync(file, "utf8")}  waves:labels:\n    region: ${region}\n`);
      this.fleet = new FleetCommand(stack);
    }
  }

  /** Starts the server, with what it knew before, and waits until it answers. */
  async startServer(): Promise<void> {
    const [ip = "", port = ""] = this.address.split(":");
    this.server = spawn(
      this.temporal,
      [
        "server",
        "start-dev",
        "--headless",
        "--ip",
        ip,
        "--port",
        port,
        "--db-filename",
        this.at("temporal.db"),
      ],
      { stdio: "ignore" },
    );
    await until(
      "the server answers",
      async () => (await this.call("operator", "cluster", "health")).code === 0,
    );
  }

  async killServer(): Promise<void> {
    await kill(this.server);
  }

  /** Runs Temporal's own command. */
  async call(...args: string[]): Promise<{ code: number; stdout: string }> {
    const child = spawn(this.temporal, [...args, "--address", this.address], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    let stdout = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
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

  /** Starts the worker of a region, and waits until it works. */
  async startWorker(region: string): Promise<{ kill: () => Promise<void>; stop: () => Promise<number> }> {
    const { child, ended, printed } = this.fleet.start("fleet", "worker", "--region", region);
    this.workers.add(child);
    await until(`the worker of ${region} works: ${printed()}`, () => /^working on /m.test(printed()));
    return {
      kill: () => kill(child),
      stop: async () => {
        child.kill("SIGTERM");
        return (await ended).exitCode;
      },
    };
  }

  journal(): string[] {
    return readJournal(this.folder);
  }

  set(name: string): void {
    writeFileSync(this.at(name), "");
  }

  clear(name: string): void {
    rmSync(this.at(name), { force: true });
  }

  async remove(): Promise<void> {
    for (const child of this.workers) await kill(child);
    await this.killServer();
    mkdirSync(this.folder, { recursive: true });
    removeFolder(this.folder);
  }
}

async function kill(child: ChildProcess | undefined): Promise<void> {
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
