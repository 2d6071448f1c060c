import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { KubernetesClient } from "../../lib/kubernetes";
import { waitFor } from "../../lib/wait";
import {
  ApiServer,
  type ApiServerOptions,
  apiServerPorts,
  type ApiServerPrograms,
  type Command,
} from "../../sandbox/management/api-server";

export { freePorts, type ApiServerPrograms } from "../../sandbox/management/api-server";

export interface BareApiServerOptions extends ApiServerOptions {
  programs: ApiServerPrograms;
  /** how long the start may take; default 60 */
  seconds?: number;
  /** default: a free one */
  port?: number;
  /** what an earlier server left; default: an empty one */
  saved?: SavedApiServer;
}

/** The certificates and objects of an API server. */
export interface SavedApiServer {
  /** file name → PEM text */
  readonly certificates: Readonly<Record<string, string>>;
  /** etcd's key → value, both in base64 */
  readonly objects: Readonly<Record<string, string>>;
}

/** What an API server writes by itself, and keeps for a while only; one of them contains the machine's name. */
const SHORT_LIVED = /^\/registry\/(events|masterleases|leases\/kube-system\/apiserver-)/;
/** etcd accepts 128 operations in one transaction. */
const PUTS_AT_ONCE = 100;

/** Bootstrap tokens signed and cleaned up, and pod networks given to Nodes. */
const CONTROLLERS = ["bootstrap-signer-controller", "token-cleaner-controller", "node-ipam-controller"];

/** The sandbox's plain API server for a test: in a temporary folder, and removed with the test's process. */
export class BareApiServer {
  readonly folder = mkdtempSync(join(tmpdir(), "foresail-api-"));
  /** its certificates and kubeconfigs; available after the start */
  server!: ApiServer;
  private readonly processes = new Map<string, ChildProcess>();
  private readonly killAll = () => this.processes.forEach((child) => child.kill("SIGKILL"));

  constructor(private readonly options: BareApiServerOptions) {}

  /** Of the API server. */
  get port(): number {
    return this.server.ports.apiServer;
  }

  /** The administrator's kubeconfig, in the form of kubeadm's admin.conf; another port is a forwarder's. */
  kubeconfig(port = this.port): string {
    return this.server.kubeconfig(port);
  }

  /** A kubelet's own kubeconfig, as kubelet.conf. */
  kubeletKubeconfig(node: string): string {
    return this.server.kubeletKubeconfig(node);
  }

  /** Path of the kubeconfig's file, for other processes. */
  get kubeconfigFile(): string {
    return this.server.kubeconfigFile;
  }

  /** Starts all processes. @throws Error with the last lines of the API server's log */
  async start(): Promise<this> {
    process.once("exit", this.killAll);
    const { programs, controllers = CONTROLLERS, seconds = 60, port, saved } = this.options;
    for (const [name, text] of Object.entries(saved?.certificates ?? {}))
      writeFileSync(join(this.folder, name), text, { mode: 0o600 });
    const ports = await apiServerPorts();
    this.server = new ApiServer(this.folder, { ...ports, apiServer: port ?? ports.apiServer });
    this.run("etcd", this.server.etcd(programs));
    try {
      if (saved) await this.putObjects(saved, seconds);
      await this.startApiServer(seconds);
    } catch (error) {
      const log = this.log("kube-apiserver").trimEnd().split("\n").slice(-15).join("\n");
      await this.stop();
      throw new Error(`the API server did not start: ${(error as Error).message}\n${log}`, { cause: error });
    }
    const manager = this.server.controllerManager(programs, controllers);
    if (manager) this.run("kube-controller-manager", manager);
    return this;
  }

  /** Kills the API server only, or starts it again with the same data: an outage. */
  async stopApiServer(): Promise<void> {
    await this.end("kube-apiserver");
  }

  async startApiServer(seconds = 60): Promise<void> {
    this.run("kube-apiserver", this.server.apiServer(this.options.programs, this.options));
    (await KubernetesClient.connect({ kubeconfig: this.kubeconfig() }, { seconds })).close();
  }

  /** What a program wrote. */
  log(program: string): string {
    return this.file(`${program}.log`);
  }

  private file(name: string): string {
    return readFileSync(join(this.folder, name), "utf8");
  }

  /** What etcd has for a key, as it is on the disk. @throws Error without such a key */
  async etcdValue(key: string): Promise<Buffer> {
    const { kvs = [] } = await this.callEtcd<EtcdRange>("range", { key: base64(key) });
    if (kvs[0]?.value === undefined) throw new Error(`etcd has no ${key}`);
    return Buffer.from(kvs[0].value, "base64");
  }

  /** What a server with the same certificates and objects starts from. */
  async save(): Promise<SavedApiServer> {
    const files = readdirSync(this.folder).filter((name) => /\.(crt|key)$/.test(name));
    const range = { key: base64("/registry/"), range_end: base64("/registry0") };
    const { kvs = [] } = await this.callEtcd<EtcdRange>("range", range);
    const kept = kvs.filter(({ key }) => !SHORT_LIVED.test(Buffer.from(key, "base64").toString()));
    return {
      certificates: Object.fromEntries(files.map((name) => [name, this.file(name)])),
      objects: Object.fromEntries(kept.map(({ key, value = "" }) => [key, value])),
    };
  }

  private async putObjects({ objects }: SavedApiServer, seconds: number): Promise<void> {
    await waitFor({
      what: "etcd",
      seconds,
      firstPauseMilliseconds: 50,
      probe: () =>
        this.callEtcd("range", { key: base64("/") }).then(
          () => ({ done: true }),
          (error: Error) => ({ pending: error.message }),
        ),
    });
    const puts = Object.entries(objects).map(([key, value]) => ({ requestPut: { key, value } }));
    for (let from = 0; from < puts.length; from += PUTS_AT_ONCE)
      await this.callEtcd("txn", { success: puts.slice(from, from + PUTS_AT_ONCE) });
  }

  /** By the JSON form of etcd's API. */
  private async callEtcd<T>(call: string, body: object): Promise<T> {
    const url = `${this.server.etcdUrl}/v3/kv/${call}`;
    const response = await fetch(url, { method: "POST", body: JSON.stringify(body) });
    if (!response.ok) throw new Error(`etcd answered ${response.status}: ${await response.text()}`);
    return (await response.json()) as T;
  }

  /** Ends the processes and removes the folder. The data needs no graceful shutdown. */
  async stop(): Promise<void> {
    process.removeListener("exit", this.killAll);
    await Promise.all([...this.processes.keys()].map((name) => this.end(name)));
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Starts a program beside the server, which ends with it. */
  run(name: string, { program, args }: Command, environment: Readonly<Record<string, string>> = {}): void {
    const log = openSync(join(this.folder, `${name}.log`), "a", 0o600);
    const child = spawn(program, args, {
      cwd: this.folder,
      // a server of a test ends within minutes: memory is cheaper than the time to collect it
      env: { GOGC: "400", ...process.env, ...environment },
      stdio: ["ignore", log, log],
    });
    closeSync(log);
    child.on("error", () => undefined);
    this.processes.set(name, child);
  }

  /** Kills a program that was started beside the server. */
  async end(name: string): Promise<void> {
    const child = this.processes.get(name);
    this.processes.delete(name);
    if (!child?.pid || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
  }
}

interface EtcdRange {
  /** in base64 */
  readonly kvs?: readonly { readonly key: string; readonly value?: string }[];
}

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}
