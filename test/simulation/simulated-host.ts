import { setTimeout as pause } from "node:timers/promises";
import { gunzipSync } from "node:zlib";
import { type Connection, Server, type ServerChannel, utils } from "ssh2";
import type { ClusterNodes } from "./cluster-nodes";
import type { Fault, FleetConfiguration, FleetFiles, SimulatedMachine } from "./fleet-files";
import type { Result } from "./operation-result";
import { perform } from "./operations";
import { PortForwarder } from "./port-forwarder";
import { parseScript, type ReceivedScript } from "./received-script";

const BUSY: Result = { outcome: "lock busy", stderr: "another foresail step still runs", exitCode: 75 };
const ABANDONED: Result = {
  outcome: "lock busy",
  stderr: "its caller has gone while it waited",
  exitCode: 75,
};

let runs = 0;

/** What `base64 -d | gunzip` printed: nothing for a truncated script. */
function unpack(received: Buffer): string {
  try {
    return gunzipSync(Buffer.from(received.toString("latin1"), "base64")).toString("utf8");
  } catch {
    return "";
  }
}

/** One machine of the fleet: an SSH server that knows foresail's scripts by their title, and does what they do. */
export class SimulatedHost {
  private readonly server: Server;
  private readonly connections = new Set<Connection>();
  private readonly apiServer: PortForwarder;
  // as flock on the machine: one script at a time, whatever its sender
  private lock: Promise<unknown> = Promise.resolve();
  private lastPower: Promise<void> = Promise.resolve();

  constructor(
    private readonly machine: SimulatedMachine,
    private readonly files: FleetFiles,
    private readonly configuration: FleetConfiguration,
    private readonly nodes: ClusterNodes,
  ) {
    this.apiServer = new PortForwarder(machine.apiServerPort, configuration.apiServerPort, machine.address);
    const userKey = utils.parseKey(configuration.userKey);
    if (userKey instanceof Error) throw userKey;
    this.server = new Server({ hostKeys: [machine.hostKey.private] }, (connection) => {
      // it is missing in the type declarations
      (connection as unknown as { setNoDelay(on: boolean): void }).setNoDelay(true);
      connection.on("error", () => undefined);
      if (this.files.isOff(machine.name)) return void connection.end();
      this.connections.add(connection);
      connection.on("close", () => this.connections.delete(connection));
      connection.on("authentication", (context) => {
        const isKnown = context.method === "publickey" && context.key.data.equals(userKey.getPublicSSH());
        if (isKnown) context.accept();
        else context.reject(["publickey"]);
      });
      connection.on("session", (accept) => {
        const session = accept();
        session.on("env", (acceptVariable) => acceptVariable?.());
        session.on("exec", (acceptCommand, _reject, { command }) =>
          this.receive(command, acceptCommand(), connection),
        );
      });
    });
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.server.on("error", reject);
      this.server.listen(this.machine.sshPort, this.machine.address ?? "127.0.0.1", resolve);
    });
    await this.showApiServer();
  }

  /** Ends for good. */
  close(): void {
    this.server.close();
    for (const connection of this.connections) connection.end();
    this.apiServer.cut();
  }

  /** Cuts or restores the power; of two calls in a row the later one counts. */
  power(): Promise<void> {
    const turn = this.lastPower.then(() => this.showPower());
    this.lastPower = turn.catch(() => undefined);
    return turn;
  }

  private async showPower(): Promise<void> {
    const { name } = this.machine;
    const isOff = this.files.isOff(name);
    if (isOff) for (const connection of this.connections) connection.end();
    await this.showApiServer();
    if (this.files.state(name).member) await this.nodes.setReady(name, !isOff);
  }

  private async showApiServer(): Promise<void> {
    const { name } = this.machine;
    if (this.files.state(name).apiServerRuns && !this.files.isOff(name)) await this.apiServer.open();
    else this.apiServer.cut();
  }

  private receive(command: string, channel: ServerChannel, connection: Connection): void {
    for (const stream of [channel, channel.stderr]) stream.on("error", () => undefined);
    const [, unpacks, shell] = /^(base64 -d \| gunzip \| )?(.*?)(?: # .*)?$/s.exec(command) ?? [];
    if (shell === undefined || !["bash -s", "sudo -n bash -s"].includes(shell)) {
      const stderr = `simulated: ${command}: command not found`;
      return finish(channel, { outcome: "failed", stderr, exitCode: 127 });
    }
    const chunks: Buffer[] = [];
    channel.on("data", (chunk: Buffer) => chunks.push(chunk));
    channel.on("end", () => {
      const script = parseScript(
        unpacks ? unpack(Buffer.concat(chunks)) : Buffer.concat(chunks).toString("utf8"),
      );
      // bash does nothing with a truncated script, either
      if (!script)
        return finish(channel, { outcome: "failed", stderr: "simulated: no foresail script", exitCode: 2 });
      void this.run(script, channel, connection);
    });
  }

  /** Runs to its end even when the connection is lost meanwhile: on a machine the script writes to a file. */
  private async run(script: ReceivedScript, channel: ServerChannel, connection: Connection): Promise<void> {
    const { operation, machine } = script;
    const entry = { id: ++runs, machine, operation };
    this.files.log({ ...entry, at: Date.now(), event: "asked" });
    const end = ({ outcome, stderr }: Result) =>
      this.files.log({ ...entry, at: Date.now(), event: "end", outcome, words: stderr });
    const before = this.lock;
    let isGivenUp = false;
    const turn = before.then(async (): Promise<Result> => {
      if (isGivenUp) return BUSY;
      if (channel.destroyed) {
        end(ABANDONED);
        return ABANDONED;
      }
      this.files.log({ ...entry, at: Date.now(), event: "start" });
      const fault = this.files.takeFault(operation, machine);
      if (fault?.kind === "drop") connection.end();
      const result = await this.effect(script, fault).catch((error: Error): Result => {
        return { outcome: "failed", stderr: `simulation: ${error.message}`, exitCode: 70 };
      });
      end(result);
      return result;
    });
    this.lock = turn;
    if (await isLater(before, script.lockSeconds * 1000)) {
      isGivenUp = true;
      end(BUSY);
      return finish(channel, BUSY, script.marker);
    }
    finish(channel, await turn, script.marker);
  }

  private async effect(script: ReceivedScript, fault: Fault | undefined): Promise<Result> {
    const { files, configuration, nodes } = this;
    const name = this.machine.name;
    const usual = configuration.milliseconds[script.operation as Fault["operation"]] ?? 0;
    await pause(usual + (fault?.kind === "hang" ? (fault.milliseconds ?? 0) : 0));
    const refusal: Result = {
      outcome: "failed",
      stderr: fault?.stderr ?? "simulated fault",
      exitCode: fault?.exitCode ?? 1,
    };
    const isBefore = fault !== undefined && fault.kind !== "hang" && !fault.after;
    if (isBefore || files.isOff(name)) return refusal;
    const state = files.state(name);
    const result = await perform({ script, state, files, configuration, nodes });
    files.saveState(name, state);
    await this.showApiServer();
    return fault?.kind === "fail"
      ? { ...result, stderr: refusal.stderr, exitCode: refusal.exitCode }
      : result;
  }
}

/** Whether work continues after this time. */
async function isLater(work: Promise<unknown>, milliseconds: number): Promise<boolean> {
  const late = new AbortController();
  const timer = pause(milliseconds, true, { signal: late.signal }).catch(() => false);
  const isLate = await Promise.race([timer, work.then(() => false)]);
  late.abort();
  return isLate;
}

function finish(channel: ServerChannel, { stdout, stderr, exitCode = 0 }: Result, marker?: string): void {
  if (channel.destroyed) return;
  try {
    if (marker !== undefined) channel.write(`\n${marker}\n`);
    if (stdout) channel.write(stdout);
    if (stderr) channel.stderr.write(`${stderr}\n`);
    channel.exit(exitCode);
    channel.end();
  } catch {
    // the connection is gone
  }
}
