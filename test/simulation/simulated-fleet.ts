import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readProcess } from "../../lib/process/identity";
import { waitFor } from "../../lib/wait";
import { newKey } from "../support/ssh-server";
import type { BareApiServer } from "./bare-api-server";
import { reservePorts } from "./reserved-ports";
import {
  type Fault,
  type FleetConfiguration,
  FleetFiles,
  type MachineState,
  type SimulatedMachine,
} from "./fleet-files";
import { type JournalEntry, readJournal } from "./journal";

export interface FleetOptions {
  /** the API that the machines join */
  api: Pick<BareApiServer, "kubeconfigFile" | "port">;
  /** names of all machines that will ever exist */
  machines: string[];
  /** default "v1.36.3" */
  version?: string;
  /** how long operations take */
  milliseconds?: FleetConfiguration["milliseconds"];
  /** the key that logs in; default a new one */
  userKey?: { private: string; public: string };
  /** what an earlier fleet left, whose machines come back with their keys and ports */
  saved?: SavedFleet;
  /** of the first machine; the other ports follow. Default: free ones */
  firstPort?: number;
}

/** Machines with their keys, ports and states. */
export interface SavedFleet {
  readonly machines: SimulatedMachine[];
  readonly userKey: { private: string; public: string };
  readonly states: Readonly<Record<string, MachineState>>;
}

/** How foresail reaches a machine of the fleet. */
export interface FleetAddress {
  name: string;
  address: string;
  port: number;
  user: string;
  hostKey: string;
  /** host:port of its API server, once it is a control plane */
  apiServer: string;
}

/** Simulated machines in a process of their own, seen from a test. */
export class SimulatedFleet {
  private constructor(
    readonly files: FleetFiles,
    /** logs in on every machine */
    readonly privateKey: string,
    private readonly process: ChildProcess,
  ) {}

  /** Starts the hosts and waits until they listen. */
  static async start(options: FleetOptions): Promise<SimulatedFleet> {
    const files = new FleetFiles(mkdtempSync(join(tmpdir(), "foresail-fleet-")));
    const { saved, firstPort } = options;
    const count = options.machines.length * 2;
    const ports = firstPort
      ? Array.from({ length: count }, (_, index) => firstPort + index)
      : await reservePorts(count);
    const userKey = saved?.userKey ?? options.userKey ?? newKey();
    for (const [name, state] of Object.entries(saved?.states ?? {})) files.saveState(name, state);
    files.configuration = {
      machines:
        saved?.machines ??
        options.machines.map((name, index) => ({
          name,
          sshPort: ports[index * 2]!,
          apiServerPort: ports[index * 2 + 1]!,
          hostKey: newKey(),
        })),
      userKey: userKey.public,
      kubeconfig: options.api.kubeconfigFile,
      apiServerPort: options.api.port,
      version: options.version ?? "v1.36.3",
      milliseconds: options.milliseconds ?? {},
      parent: { pid: process.pid, startTime: readProcess(process.pid)?.startTime ?? "" },
    };
    const logFile = join(files.folder, "log");
    const log = openSync(logFile, "a", 0o600);
    const program = join(__dirname, "simulated-ssh-hosts.js");
    const hosts = spawn(process.execPath, [program, "--state", files.folder], {
      detached: true,
      stdio: ["ignore", log, log],
    });
    closeSync(log);
    await waitFor({
      what: "the simulated hosts",
      seconds: 30,
      firstPauseMilliseconds: 50,
      probe: () => {
        if (existsSync(files.readyFile)) return Promise.resolve({ done: true });
        if (hosts.exitCode !== null)
          throw new Error(`the simulated hosts ended: ${readFileSync(logFile, "utf8")}`);
        return Promise.resolve({ pending: "not all listening" });
      },
    });
    hosts.unref();
    return new SimulatedFleet(files, userKey.private, hosts);
  }

  /** @throws Error when the fleet has no such machine */
  machine(name: string, user = "root"): FleetAddress {
    const found = this.files.configuration.machines.find((machine) => machine.name === name);
    if (!found) throw new Error(`the fleet has no machine ${name}`);
    const { sshPort: port, hostKey, apiServerPort } = found;
    const apiServer = `127.0.0.1:${apiServerPort}`;
    return { name, address: "127.0.0.1", port, user, hostKey: hostKey.public, apiServer };
  }

  state(name: string): MachineState {
    return this.files.state(name);
  }

  /** What a fleet of the same machines starts from. */
  save(): SavedFleet {
    const { machines, userKey } = this.files.configuration;
    return {
      machines,
      userKey: { private: this.privateKey, public: userKey },
      states: Object.fromEntries(machines.map(({ name }) => [name, this.state(name)])),
    };
  }

  /** Makes the next run of one operation on one machine go wrong. */
  inject(fault: Fault): void {
    this.files.inject(fault);
  }

  /** Cuts the power: SSH and the API server stop, the Node is no longer Ready. */
  powerOff(name: string): void {
    this.files.setOff(name, true);
  }

  powerOn(name: string): void {
    this.files.setOff(name, false);
  }

  get journal(): JournalEntry[] {
    return readJournal(this.files.journalLines);
  }

  /** Errors of the hosts' process. */
  get log(): string {
    return readFileSync(join(this.files.folder, "log"), "utf8");
  }

  async stop(): Promise<void> {
    if (this.process.exitCode === null && this.process.signalCode === null) {
      const ended = once(this.process, "exit");
      this.process.kill("SIGKILL");
      await ended;
    }
    rmSync(this.files.folder, { recursive: true, force: true });
  }
}
