import { readFileSync } from "node:fs";
import type { SecureContextOptions } from "node:tls";
import { parse } from "yaml";

/** Who to ask, and with which credentials. */
export interface ClusterAccess {
  /** YAML; with several contexts, each is another API server of the same cluster */
  kubeconfig: string;
}

/** One API server of a cluster. */
export interface Endpoint {
  /** the context's name */
  name: string;
  /** such as "https://10.0.0.1:6443" */
  server: string;
  tls: SecureContextOptions & { servername?: string; rejectUnauthorized?: boolean };
  /** without the credentials that a certificate gives */
  headers: Record<string, string>;
}

type Entries<K extends string, T> = ({ name: string } & Record<K, T>)[] | undefined;

interface Cluster {
  server: string;
  "certificate-authority-data"?: string;
  "certificate-authority"?: string;
  "insecure-skip-tls-verify"?: boolean;
  "tls-server-name"?: string;
}

interface User {
  "client-certificate-data"?: string;
  "client-certificate"?: string;
  "client-key-data"?: string;
  "client-key"?: string;
  token?: string;
  tokenFile?: string;
  exec?: unknown;
  "auth-provider"?: unknown;
  username?: string;
  password?: string;
}

interface Kubeconfig {
  clusters: Entries<"cluster", Cluster>;
  users: Entries<"user", User>;
  contexts: Entries<"context", { cluster: string; user: string }>;
  "current-context"?: string;
}

/**
 * The API servers of a kubeconfig, the current context's first.
 *
 * @throws Error when it is no kubeconfig, names what it lacks (never its content)
 */
export async function readEndpoints(access: ClusterAccess): Promise<Endpoint[]> {
  const config = parseKubeconfig(access.kubeconfig);
  const current = config["current-context"];
  const contexts = [...(config.contexts ?? [])].sort(
    (one, other) => Number(other.name === current) - Number(one.name === current),
  );
  if (contexts.length === 0) throw new Error("the kubeconfig has no context");
  return Promise.all(
    contexts.map(async ({ name, context }) => {
      const cluster = find(config.clusters, context.cluster)?.cluster;
      const user = find(config.users, context.user)?.user;
      if (!cluster?.server)
        throw new Error(`the kubeconfig's context "${name}" has no cluster with a server`);
      if (!user) throw new Error(`the kubeconfig's context "${name}" has no user`);
      const endpoint: Endpoint = { name, server: cluster.server, tls: {}, headers: {} };
      endpoint.tls.ca = bytes(cluster["certificate-authority-data"], cluster["certificate-authority"]);
      endpoint.tls.servername = cluster["tls-server-name"];
      endpoint.tls.rejectUnauthorized = !cluster["insecure-skip-tls-verify"];
      if (user.exec || user["auth-provider"]) await logInWithLibrary(access.kubeconfig, endpoint);
      else addCredentials(endpoint, user);
      return endpoint;
    }),
  );
}

function parseKubeconfig(text: string): Kubeconfig {
  let config: unknown;
  try {
    config = parse(text);
  } catch {
    throw new Error("the kubeconfig is not YAML");
  }
  if (typeof config !== "object" || config === null || !("clusters" in config)) {
    throw new Error("the kubeconfig has no clusters: is it a kubeconfig?");
  }
  return config as Kubeconfig;
}

function find<T extends { name: string }>(entries: T[] | undefined, name: string): T | undefined {
  return entries?.find((entry) => entry.name === name);
}

function bytes(data: string | undefined, path: string | undefined): Buffer | undefined {
  if (data) return Buffer.from(data, "base64");
  return path ? readFileSync(path) : undefined;
}

function addCredentials(endpoint: Endpoint, user: User): void {
  endpoint.tls.cert = bytes(user["client-certificate-data"], user["client-certificate"]);
  endpoint.tls.key = bytes(user["client-key-data"], user["client-key"]);
  const token = user.token ?? (user.tokenFile && readFileSync(user.tokenFile, "utf8").trim());
  if (token) endpoint.headers.Authorization = `Bearer ${token}`;
  else if (user.username) {
    const pair = Buffer.from(`${user.username}:${user.password ?? ""}`).toString("base64");
    endpoint.headers.Authorization = `Basic ${pair}`;
  }
}

/** Users that log in by a program or a provider are few and slow already: the whole library does it. */
async function logInWithLibrary(kubeconfig: string, endpoint: Endpoint): Promise<void> {
  const { KubeConfig } = await import("@kubernetes/client-node");
  const config = new KubeConfig();
  config.loadFromString(kubeconfig);
  config.setCurrentContext(endpoint.name);
  const options: { headers?: Record<string, string>; cert?: Buffer; key?: Buffer; ca?: Buffer } = {};
  await config.applyToHTTPSOptions(options as Parameters<typeof config.applyToHTTPSOptions>[0]);
  endpoint.tls.cert = options.cert;
  endpoint.tls.key = options.key;
  endpoint.headers = { ...endpoint.headers, ...options.headers };
}
