import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { KubernetesClient } from "../../clients/kubernetes";
import { type Certificate, TestAuthority } from "../support/certificates";

/** Paths of the programs. Without the controller manager no controller runs. */
export interface ApiServerPrograms {
  etcd: string;
  kubeApiserver: string;
  kubeControllerManager?: string;
}

export interface BareApiServerOptions {
  programs: ApiServerPrograms;
  /** default: bootstrap tokens signed and cleaned up, and pod networks given to Nodes */
  controllers?: string[];
  /** further arguments of kube-apiserver, such as an audit log's */
  apiServerArguments?: string[];
  /** how long the start may take; default 60 */
  seconds?: number;
}

const CONTROLLERS = ["bootstrap-signer-controller", "token-cleaner-controller", "node-ipam-controller"];
const POD_CIDR = "10.244.0.0/16";
const SERVICE_CIDR = "10.96.0.0/12";

/**
 * A real etcd and kube-apiserver (and controllers) as plain processes on 127.0.0.1, with an authority of their own
 * and all data in a temporary folder. No kubelet and no scheduler: a Node is ready because a test says so.
 */
export class BareApiServer {
  readonly folder = mkdtempSync(join(tmpdir(), "foresail-api-"));
  /** of the API server */
  port = 0;
  private readonly processes = new Map<string, ChildProcess>();
  private readonly killAll = () => this.processes.forEach((child) => child.kill("SIGKILL"));
  private readonly authority = new TestAuthority(this.folder);
  private readonly admin: Certificate;
  private apiserver: string[] = [];

  constructor(private readonly options: BareApiServerOptions) {
    this.admin = this.authority.issue("admin", "/O=system:masters/CN=kubernetes-admin");
  }

  /** The administrator's kubeconfig, in the form of kubeadm's admin.conf; another port is a forwarder's. */
  kubeconfig(port = this.port): string {
    return this.kubeconfigOf(this.admin, port);
  }

  /** A kubelet's own kubeconfig, as kubelet.conf. */
  kubeletKubeconfig(node: string): string {
    return this.kubeconfigOf(this.authority.issue(node, `/O=system:nodes/CN=system:node:${node}`), this.port);
  }

  private kubeconfigOf({ certificate, key }: Certificate, port: number): string {
    const base64 = (text: string) => Buffer.from(text).toString("base64");
    const authority = base64(this.authority.own.certificate);
    const cluster = { server: `https://127.0.0.1:${port}`, "certificate-authority-data": authority };
    const user = { "client-certificate-data": base64(certificate), "client-key-data": base64(key) };
    return JSON.stringify({
      apiVersion: "v1",
      kind: "Config",
      clusters: [{ name: "kubernetes", cluster }],
      users: [{ name: "kubernetes-admin", user }],
      contexts: [{ name: "admin", context: { cluster: "kubernetes", user: "kubernetes-admin" } }],
      "current-context": "admin",
    });
  }

  /** Path of the kubeconfig's file, for other processes. */
  get kubeconfigFile(): string {
    return join(this.folder, "admin.conf");
  }

  /** Starts all processes. @throws Error with the last lines of the API server's log */
  async start(): Promise<this> {
    process.once("exit", this.killAll);
    const [etcdPort, etcdPeerPort, port, controllerPort] = (await freePorts(4)) as [
      number,
      number,
      number,
      number,
    ];
    this.port = port;
    const data = join(this.folder, "etcd");
    mkdirSync(data, { mode: 0o700 });
    const etcdUrl = `http://127.0.0.1:${etcdPort}`;
    const peerUrl = `http://127.0.0.1:${etcdPeerPort}`;
    this.run("etcd", this.options.programs.etcd, [
      `--data-dir=${data}`,
      "--unsafe-no-fsync",
      `--listen-client-urls=${etcdUrl}`,
      `--advertise-client-urls=${etcdUrl}`,
      `--listen-peer-urls=${peerUrl}`,
      `--initial-advertise-peer-urls=${peerUrl}`,
      `--initial-cluster=default=${peerUrl}`,
    ]);
    this.apiserver = this.apiServerArguments(etcdUrl);
    writeFileSync(this.kubeconfigFile, this.kubeconfig(), { mode: 0o600 });
    this.run("kube-apiserver", this.options.programs.kubeApiserver, this.apiserver);
    try {
      const seconds = this.options.seconds ?? 60;
      (await KubernetesClient.connect({ kubeconfig: this.kubeconfig() }, { seconds })).close();
    } catch (error) {
      const log = this.log("kube-apiserver").trimEnd().split("\n").slice(-15).join("\n");
      await this.stop();
      throw new Error(`the API server did not start: ${(error as Error).message}\n${log}`, { cause: error });
    }
    if (this.options.programs.kubeControllerManager) {
      this.run("kube-controller-manager", this.options.programs.kubeControllerManager, [
        `--kubeconfig=${this.kubeconfigFile}`,
        `--controllers=${(this.options.controllers ?? CONTROLLERS).join(",")}`,
        "--allocate-node-cidrs=true",
        `--cluster-cidr=${POD_CIDR}`,
        `--service-cluster-ip-range=${SERVICE_CIDR}`,
        "--leader-elect=false",
        "--bind-address=127.0.0.1",
        `--secure-port=${controllerPort}`,
        `--cert-dir=${join(this.folder, "controller-manager")}`,
      ]);
    }
    return this;
  }

  /** Kills the API server only, or starts it again with the same data: an outage. */
  async stopApiServer(): Promise<void> {
    await this.end("kube-apiserver");
  }

  async startApiServer(): Promise<void> {
    this.run("kube-apiserver", this.options.programs.kubeApiserver, this.apiserver);
    (await KubernetesClient.connect({ kubeconfig: this.kubeconfig() }, { seconds: 60 })).close();
  }

  /** What a program wrote. */
  log(program: string): string {
    return readFileSync(join(this.folder, `${program}.log`), "utf8");
  }

  /** Ends the processes and removes the folder. Nothing of the data is worth a graceful end. */
  async stop(): Promise<void> {
    process.removeListener("exit", this.killAll);
    await Promise.all([...this.processes.keys()].map((name) => this.end(name)));
    rmSync(this.folder, { recursive: true, force: true });
  }

  private apiServerArguments(etcdUrl: string): string[] {
    const names = ["IP:127.0.0.1", "IP:10.96.0.1", "DNS:localhost", "DNS:kubernetes.default.svc"];
    const serving = this.authority.issue("apiserver", "/CN=kube-apiserver", names);
    const signing = this.authority.issue("service-accounts", "/CN=service-accounts");
    return [
      `--etcd-servers=${etcdUrl}`,
      "--bind-address=127.0.0.1",
      "--advertise-address=127.0.0.1",
      "--endpoint-reconciler-type=none",
      `--secure-port=${this.port}`,
      `--tls-cert-file=${serving.certificateFile}`,
      `--tls-private-key-file=${serving.keyFile}`,
      `--client-ca-file=${this.authority.own.certificateFile}`,
      "--service-account-issuer=https://kubernetes.default.svc",
      `--service-account-key-file=${signing.certificateFile}`,
      `--service-account-signing-key-file=${signing.keyFile}`,
      `--service-cluster-ip-range=${SERVICE_CIDR}`,
      "--authorization-mode=Node,RBAC",
      "--enable-bootstrap-token-auth=true",
      "--allow-privileged=true",
      // as kubeadm has it: a kubelet writes to its own Node only
      "--enable-admission-plugins=NodeRestriction",
      // pods are made without the controller that makes their service accounts
      "--disable-admission-plugins=ServiceAccount",
      ...(this.options.apiServerArguments ?? []),
    ];
  }

  private run(name: string, program: string, args: string[]): void {
    const log = openSync(join(this.folder, `${name}.log`), "a", 0o600);
    const child = spawn(program, args, { cwd: this.folder, stdio: ["ignore", log, log] });
    closeSync(log);
    child.on("error", () => undefined);
    this.processes.set(name, child);
  }

  private async end(name: string): Promise<void> {
    const child = this.processes.get(name);
    this.processes.delete(name);
    if (!child?.pid || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
  }
}

/** Ports of 127.0.0.1 on which nobody listens now. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, "127.0.0.1"));
  await Promise.all(servers.map((server) => once(server, "listening")));
  const ports = servers.map((server) => (server.address() as { port: number }).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}
