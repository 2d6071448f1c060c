import { existsSync } from "node:fs";
import { readFile, rm } from "node:fs/promises";
import path from "node:path";
import { KubernetesClient } from "../../lib/kubernetes";
import { writePrivate } from "../private-file";
import { Processes } from "../processes";
import { withLock } from "../toolchain/lock";
import {
  ApiServer,
  apiServerPorts,
  type ApiServerOptions,
  type ApiServerPorts,
  type ApiServerPrograms,
  type Command,
} from "./api-server";

/** A further process on the cluster, such as a controller. */
interface Companion extends Command {
  readonly name: string;
  readonly environment?: Readonly<Record<string, string>>;
}

const API_SECONDS = 60;
const ETCD = "etcd";
const API_SERVER = "kube-apiserver";
const CONTROLLER_MANAGER = "kube-controller-manager";

/**
 * A management cluster of background processes on this machine: etcd, kube-apiserver, the requested controllers of
 * kube-controller-manager, and companions. They outlive the process that started them. All data is in one folder.
 */
export class ManagementCluster {
  private readonly processes: Processes;

  /** @param folder of its own; `start` creates it and `delete` removes it */
  constructor(private readonly folder: string) {
    this.processes = new Processes(path.join(folder, "processes.json"), path.join(folder, "logs"));
  }

  /**
   * Starts what is not running, and waits until the API answers.
   * @returns the API server: its kubeconfigs and its authority
   * @throws Error with the last lines of the API server's log
   */
  async start(programs: ApiServerPrograms, options: ApiServerOptions = {}): Promise<ApiServer> {
    return withLock(
      `${this.folder}.lock`,
      () => undefined,
      async () => {
        const server = new ApiServer(this.folder, await this.ports());
        await this.run(ETCD, server.etcd(programs));
        await this.run(API_SERVER, server.apiServer(programs, options));
        try {
          const access = { kubeconfig: server.kubeconfig() };
          (await KubernetesClient.connect(access, { seconds: API_SECONDS })).close();
        } catch (error) {
          const words = `${(error as Error).message}\n${await this.processes.tail(API_SERVER)}`;
          throw new Error(`the API server of the management cluster did not start: ${words}`, {
            cause: error,
          });
        }
        const controllers = server.controllerManager(programs, options.controllers ?? []);
        if (controllers !== undefined) await this.run(CONTROLLER_MANAGER, controllers);
        return server;
      },
    );
  }

  /** Starts a companion unless it is running. */
  async startCompanion(companion: Companion): Promise<void> {
    await this.run(companion.name, companion, companion.environment);
  }

  /** Ends companions, so that they can be started again. */
  async stopCompanions(...names: string[]): Promise<void> {
    await this.processes.stop(names);
  }

  /** Returns the last lines of a process's log. */
  tail(name: string): Promise<string> {
    return this.processes.tail(name);
  }

  /** Returns the names of the running processes. */
  running(): Promise<string[]> {
    return this.processes.running();
  }

  /** Returns whether anything of it exists on this machine. */
  exists(): boolean {
    return existsSync(this.folder);
  }

  /** Ends all processes and keeps the data. Companions end first, so that none logs the end of the API. */
  async stop(): Promise<void> {
    const own = [CONTROLLER_MANAGER, API_SERVER, ETCD];
    const recorded = Object.keys(await this.processes.recorded());
    await this.processes.stop(recorded.filter((name) => !own.includes(name)));
    for (const name of own) await this.processes.stop([name]);
  }

  /** Ends all processes and deletes the folder. */
  async delete(): Promise<void> {
    await this.stop();
    await rm(this.folder, { recursive: true, force: true });
  }

  private async run(name: string, { program, args }: Command, environment = {}): Promise<void> {
    await this.processes.start({
      name,
      command: program,
      args,
      environment: { ...process.env, ...environment },
      folder: this.folder,
    });
  }

  /** Returns the ports of the first start. */
  private async ports(): Promise<ApiServerPorts> {
    const file = path.join(this.folder, "ports.json");
    const kept = await readFile(file, "utf8").catch(() => undefined);
    if (kept !== undefined) return JSON.parse(kept) as ApiServerPorts;
    const ports = await apiServerPorts();
    await writePrivate(file, JSON.stringify(ports));
    return ports;
  }
}
