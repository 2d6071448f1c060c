import { createHash } from "node:crypto";
import { rm } from "node:fs/promises";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { Processes } from "../processes";
import { AddressTranslation } from "./address-translation";
import { ContainerMachines } from "./container-machines";
import { NodeFleet } from "../nodes/fleet";
import { findFreePorts } from "../nodes/ports";
import type { Reporter } from "../progress";
import type { MachineFault, TumblebugFault } from "./faults";
import type { PassedRequest } from "./admin-routes";
import {
  newPassword,
  readServerSettings,
  serverPaths,
  writeServerSettings,
  type ProcessSettings,
} from "./settings";

const NAME = "tumblebug";
const START_SECONDS = 60;

/** The options of a server. */
export interface DesiredServer extends Pick<
  ProcessSettings,
  "generation" | "connections" | "bundles" | "publicBlocks"
> {
  /** default 0 */
  readonly pace?: number;
}

/** How clients connect to a server. */
export interface ServerAccess {
  readonly address: string;
  readonly user: string;
  readonly password: string;
}

/** A simulated Tumblebug in the background, with everything that it creates; it outlives the program that starts it. */
export class BackgroundServer {
  private readonly paths;
  private readonly processes: Processes;

  /** @param system of its VMs' container nodes */
  constructor(
    readonly folder: string,
    private readonly system: string,
  ) {
    this.paths = serverPaths(folder);
    this.processes = new Processes(this.paths.processes, this.paths.logs);
  }

  /** Starts it unless it is running; the options apply at its first start. @throws Error with its last log lines */
  async start(desired: DesiredServer, report: Reporter): Promise<ServerAccess> {
    const settings = await this.ensureSettings(desired);
    await report.step("Tumblebug on this machine", async () => {
      await this.processes.start({
        name: NAME,
        command: process.execPath,
        args: [path.join(__dirname, "main.js"), this.paths.folder],
        environment: process.env,
        folder: this.paths.folder,
      });
      await this.awaitAnswer(settings);
    });
    return access(settings);
  }

  /** Returns the settings of its first start; undefined before. */
  settings(): Promise<ProcessSettings | undefined> {
    return readServerSettings(this.paths.folder);
  }

  async isRunning(): Promise<boolean> {
    return (await this.processes.running()).includes(NAME);
  }

  /** Kills the process; its VMs keep running. */
  async kill(): Promise<void> {
    await this.processes.stop([NAME]);
  }

  /** Ends it and powers its VMs off; everything is kept for the next start. */
  async stop(): Promise<void> {
    await this.kill();
    await new ContainerMachines(this.system, []).powerOff();
  }

  /** Ends it and removes all its processes, containers, volumes, networks and files. */
  async delete(): Promise<void> {
    await this.kill();
    if ((await this.settings())?.publicBlocks) await new AddressTranslation(this.system).end();
    await new NodeFleet(this.system).deleteAll();
    await rm(this.paths.folder, { recursive: true, force: true });
  }

  /** Requests a fault. */
  async addFault(fault: TumblebugFault | MachineFault): Promise<void> {
    await this.administer("POST", "/faults", fault);
  }

  async clearFaults(): Promise<void> {
    await this.administer("DELETE", "/faults");
  }

  /** Returns the newest 5,000 requests of clients since its start. */
  async requests(): Promise<PassedRequest[]> {
    return ((await this.administer("GET", "")) as { requests: PassedRequest[] }).requests;
  }

  /** Ends a VM or deletes an object without the server noticing. */
  async vanish(
    what:
      | { namespace: string; infrastructure: string; machine?: string }
      | { namespace: string; kind: string; id: string },
  ): Promise<void> {
    await this.administer("POST", "/vanish", what);
  }

  private async administer(method: string, folder: string, body?: unknown): Promise<unknown> {
    const settings = await this.settings();
    if (settings === undefined) throw new Error(`there is no server in ${this.paths.folder}`);
    const response = await ask(settings, method, `/sandbox${folder}`, body);
    if (!response.ok)
      throw new Error(`the server answered ${response.status} to ${method} /sandbox${folder}`);
    return response.json();
  }

  private async ensureSettings({ pace = 0, ...desired }: DesiredServer): Promise<ProcessSettings> {
    const known = await this.settings();
    if (known !== undefined) return known;
    const seed = createHash("sha256").update(this.paths.folder).digest("hex");
    const [port = 0] = await findFreePorts(seed, 1, new Set());
    const settings: ProcessSettings = {
      ...desired,
      port,
      user: "default",
      password: newPassword(),
      system: this.system,
      pace,
    };
    await writeServerSettings(this.paths.folder, settings);
    return settings;
  }

  private async awaitAnswer(settings: ProcessSettings): Promise<void> {
    const deadline = Date.now() + START_SECONDS * 1000;
    for (;;) {
      const answer = await ask(settings, "GET", "/sandbox").catch((error: unknown) => error);
      if (answer instanceof Response && answer.ok) return;
      if (Date.now() > deadline || !(await this.isRunning()))
        throw new Error(
          `the Tumblebug server did not start. Its last log lines:\n${await this.processes.tail(NAME)}`,
        );
      await pause(50);
    }
  }
}

function access({ port, user, password }: ProcessSettings): ServerAccess {
  return { address: `http://127.0.0.1:${port}/tumblebug`, user, password };
}

function ask(settings: ProcessSettings, method: string, folder: string, body?: unknown): Promise<Response> {
  const { address, user, password } = access(settings);
  return fetch(`${address}${folder}`, {
    method,
    headers: { authorization: `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}` },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(60_000),
  });
}
