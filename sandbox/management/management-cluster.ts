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
 * A management cluster as plain processes of this machine that outlive whoever started them: etcd, kube-apiserver,
 * the asked controllers of kube-controller-manager, and companions. All it keeps lies in one folder.
 */
export class ManagementCluster {
  private readonly processes: Processes;

  /** @param folder of its own; it is made by `start` and goes with `delete` */
  constructor(private readonly folder: string) {
    this.processes = new Processes(path.join(folder, "processes.json"), path.join(folder, "logs"));
  }

  /**
   * Starts what does not run, and waits until the API answers.
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

  /** Starts a companion unless it lives. */
  async startCompanion(companion: Companion): Promise<void> {
    await this.run(companion.name, companion, companion.environment);
  }

  /** Ends companions, to be started anew. */
  async stopCompanions(...names: string[]): Promise<void> {
    await this.processes.stop(names);
  }

  /** The last words of a process. */
  tail(name: string): Promise<string> {
    return this.processes.tail(name);
  }

  /** Names of the processes that live. */
  running(): Promise<string[]> {
    return this.processes.running();
  }

  /** Whether anything of it is on this machine. */
  exists(): boolean {
    return existsSync(this.folder);
  }

  /** Ends all processes; the data stays. Companions go first, so that none complains of the API's end. */
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

  /** The ports of the first start. */
  private async ports(): Promise<ApiServerPorts> {
    const file = path.join(this.folder, "ports.json");
    const kept = await readFile(file, "utf8").catch(() => undefined);
    if (kept !== undefined) return JSON.parse(kept) as ApiServerPorts;
    const ports = await apiServerPorts();
    await writePrivate(file, JSON.stringify(ports));
    return ports;
  }
}
