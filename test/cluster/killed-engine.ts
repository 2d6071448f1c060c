import { spawn } from "node:child_process";
import { once } from "node:events";
import { isAlive, type ProcessFacts } from "../../lib/process/identity";
import { SshConnection } from "../../lib/ssh";
import { descendants, killProcess } from "../support/process-tree";
import { awaitNode } from "./await-node";
import type { TestCluster } from "./test-cluster";

/** A remote step, at whose beginning the engine is killed. */
export interface KillPoint {
  readonly machine: string;
  readonly operation: string;
  /** Only the engine, so that its plugins and providers run on; or every process that it started, too. */
  readonly victims: "engine" | "all";
}

const TRIGGER_SECONDS = 300;

/**
 * Runs `pulumi up` and kills it with SIGKILL as soon as a step has begun on a machine, told by the machine's own log.
 * @returns the processes that the engine had started, most of them alive if only the engine was killed
 * @throws Error with the engine's output when it ended before the step began
 */
export async function killUpAt(cluster: TestCluster, point: KillPoint): Promise<ProcessFacts[]> {
  const watch = await watchStep(cluster, point);
  const { program, args, folder, environment } = cluster.upCommand();
  const engine = spawn(program, args, { cwd: folder, env: environment, stdio: ["ignore", "pipe", "pipe"] });
  const output: Buffer[] = [];
  engine.stdout.on("data", (data: Buffer) => output.push(data));
  engine.stderr.on("data", (data: Buffer) => output.push(data));
  const ended = new Promise<"ended">((resolve, reject) => {
    engine.once("error", reject).once("exit", () => resolve("ended"));
  });
  const { pid } = engine;
  if (pid === undefined) throw new Error(`${program} did not start`);
  try {
    const first = await Promise.race([watch.begun, ended]);
    if (first === "ended") {
      const said = Buffer.concat(output).toString().slice(-3000);
      throw new Error(`pulumi up ended before ${point.operation} began on ${point.machine}:\n${said}`);
    }
    const started = descendants(pid);
    process.kill(pid, "SIGKILL");
    if (point.victims === "all") started.forEach(killProcess);
    await ended;
    return started;
  } finally {
    watch.end();
    if (engine.exitCode === null && engine.signalCode === null) engine.kill("SIGKILL");
    // a plugin that keeps running holds these pipes open, and with them this process
    engine.stdout.destroy();
    engine.stderr.destroy();
  }
}

/** Runs `pulumi up`, and kills the engine as soon as a Node is annotated so. */
export async function killUpWhen(
  cluster: TestCluster,
  name: string,
  what: string,
  isTime: (annotations: Readonly<Record<string, string>>) => boolean,
  seconds = TRIGGER_SECONDS,
): Promise<void> {
  const { program, args, folder, environment } = cluster.upCommand();
  const engine = spawn(program, args, { cwd: folder, env: environment, stdio: "ignore" });
  const ended = once(engine, "exit");
  await awaitNode(cluster, name, {
    what,
    seconds,
    decide: ({ metadata }) => (isTime(metadata?.annotations ?? {}) ? undefined : "not yet"),
  });
  engine.kill("SIGKILL");
  await ended;
  await cluster.reopen();
}

/** Those of some processes that still run. */
export function stillRunning(processes: readonly ProcessFacts[]): ProcessFacts[] {
  return processes.filter(isAlive);
}

async function watchStep(
  cluster: TestCluster,
  { machine, operation }: KillPoint,
): Promise<{ begun: Promise<"begun">; end(): void }> {
  const connection = await SshConnection.open(await cluster.target(machine), { seconds: 60 });
  const count = `{ grep -c '^== [^ ]* ${operation}$' /var/log/foresail/${operation}.log 2>/dev/null || true; }`;
  const before = (
    await connection.run("sudo -n bash -s", { name: "count the step's runs", stdin: count, seconds: 30 })
  ).stdout.trim();
  const script = `until [ "$(${count})" -gt ${Number(before)} ] 2>/dev/null; do sleep 0.05; done`;
  const begun = connection
    .run("sudo -n bash -s", { name: `watch ${operation}`, stdin: script, seconds: TRIGGER_SECONDS })
    .then(() => "begun" as const);
  // the engine may end first; then this is no longer needed
  begun.catch(() => undefined);
  return { begun, end: () => connection.close() };
}
