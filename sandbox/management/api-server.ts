import { mkdirSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { createServer } from "node:net";
import path from "node:path";
import { Authority, type Certificate } from "./authority";

/** Paths of the programs. Without the controller manager no controllers run. */
export interface ApiServerPrograms {
  readonly etcd: string;
  readonly kubeApiserver: string;
  readonly kubeControllerManager?: string;
}

/** Ports of 127.0.0.1. */
export interface ApiServerPorts {
  readonly etcd: number;
  readonly etcdPeer: number;
  readonly apiServer: number;
  readonly controllerManager: number;
}

export interface ApiServerOptions {
  /** Controllers of kube-controller-manager, such as "garbage-collector-controller". */
  readonly controllers?: readonly string[];
  /** Further arguments of kube-apiserver, such as for an audit log. */
  readonly apiServerArguments?: readonly string[];
}

/** A program with its arguments. */
export interface Command {
  readonly program: string;
  readonly args: readonly string[];
}

const POD_CIDR = "10.244.0.0/16";
const SERVICE_CIDR = "10.96.0.0/12";
const NAMES = [
  "IP:127.0.0.1",
  "IP:10.96.0.1",
  "DNS:localhost",
  "DNS:kubernetes",
  "DNS:kubernetes.default.svc",
];

/**
 * A real etcd and kube-apiserver (and controllers) that run as plain processes on 127.0.0.1, with their own certificate
 * authority and all data in one folder. There is no kubelet and no scheduler: a Node is Ready when a client sets its
 * status.
 */
export class ApiServer {
  private readonly authority: Authority;
  private readonly admin: Certificate;

  /** Creates the keys and the administrator's kubeconfig, unless the folder contains them. */
  constructor(
    readonly folder: string,
    readonly ports: ApiServerPorts,
  ) {
    mkdirSync(this.data, { recursive: true, mode: 0o700 });
    this.authority = new Authority(folder);
    this.admin = this.authority.issue("admin", "/O=system:masters/CN=kubernetes-admin");
    writeFileSync(this.kubeconfigFile, this.kubeconfig(), { mode: 0o600 });
  }

  /**
   * The administrator's kubeconfig, in the form of kubeadm's admin.conf; pass another port to connect through a
   * forwarder.
   */
  kubeconfig(port = this.ports.apiServer): string {
    return this.kubeconfigOf(this.admin, port);
  }

  /** The kubeconfig of a user of that name and group; without a binding it may do nothing. */
  userKubeconfig(user: string, group = "users"): string {
    return this.kubeconfigOf(this.authority.issue(`user-${user}`, `/O=${group}/CN=${user}`));
  }

  /** Returns a kubelet's own kubeconfig, like kubelet.conf. */
  kubeletKubeconfig(node: string): string {
    return this.kubeconfigOf(this.authority.issue(node, `/O=system:nodes/CN=system:node:${node}`));
  }

  /** Path of the administrator's kubeconfig, for other processes. */
  get kubeconfigFile(): string {
    return path.join(this.folder, "admin.conf");
  }

  /** Returns a certificate for a server on this machine, such as a webhook. */
  servingCertificate(name: string): Certificate {
    return this.authority.issue(name, `/CN=${name}`, NAMES);
  }

  /** The authority's certificate, as PEM. */
  get authorityCertificate(): string {
    return this.authority.own.certificate;
  }

  etcd({ etcd }: ApiServerPrograms): Command {
    const peerUrl = `http://127.0.0.1:${this.ports.etcdPeer}`;
    return {
      program: etcd,
      args: [
        `--data-dir=${this.data}`,
        "--unsafe-no-fsync",
        `--listen-client-urls=${this.etcdUrl}`,
        `--advertise-client-urls=${this.etcdUrl}`,
        `--listen-peer-urls=${peerUrl}`,
        `--initial-advertise-peer-urls=${peerUrl}`,
        `--initial-cluster=default=${peerUrl}`,
      ],
    };
  }

  apiServer({ kubeApiserver }: ApiServerPrograms, { apiServerArguments = [] }: ApiServerOptions): Command {
    const serving = this.authority.issue("apiserver", "/CN=kube-apiserver", NAMES);
    const signing = this.authority.issue("service-accounts", "/CN=service-accounts");
    const args = [
      `--etcd-servers=${this.etcdUrl}`,
      "--bind-address=127.0.0.1",
      "--advertise-address=127.0.0.1",
      "--endpoint-reconciler-type=none",
      `--secure-port=${this.ports.apiServer}`,
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
      // as with kubeadm, a kubelet writes only to its own Node
      "--enable-admission-plugins=NodeRestriction",
      // pods are created without the controller that creates their service accounts
      "--disable-admission-plugins=ServiceAccount",
      ...apiServerArguments,
    ];
    return { program: kubeApiserver, args };
  }

  /** @returns undefined without the program */
  controllerManager(
    { kubeControllerManager }: ApiServerPrograms,
    controllers: readonly string[],
  ): Command | undefined {
    if (kubeControllerManager === undefined || controllers.length === 0) return undefined;
    const args = [
      `--kubeconfig=${this.kubeconfigFile}`,
      `--controllers=${controllers.join(",")}`,
      "--allocate-node-cidrs=true",
      `--cluster-cidr=${POD_CIDR}`,
      `--service-cluster-ip-range=${SERVICE_CIDR}`,
      "--leader-elect=false",
      "--bind-address=127.0.0.1",
      `--secure-port=${this.ports.controllerManager}`,
      `--cert-dir=${path.join(this.folder, "controller-manager")}`,
    ];
    return { program: kubeControllerManager, args };
  }

  private get data(): string {
    return path.join(this.folder, "etcd");
  }

  get etcdUrl(): string {
    return `http://127.0.0.1:${this.ports.etcd}`;
  }

  private kubeconfigOf({ certificate, key }: Certificate, port = this.ports.apiServer): string {
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
}

/** Returns free ports for the processes. */
export async function apiServerPorts(): Promise<ApiServerPorts> {
  const [etcd = 0, etcdPeer = 0, apiServer = 0, controllerManager = 0] = await freePorts(4);
  return { etcd, etcdPeer, apiServer, controllerManager };
}

/** Returns ports of 127.0.0.1 on which nothing listens now. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, "127.0.0.1"));
  await Promise.all(servers.map((server) => once(server, "listening")));
  const ports = servers.map((server) => (server.address() as { port: number }).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}
