import { readFileSync } from "node:fs";
import { createSecureContext, type SecureContextOptions } from "node:tls";
import { parse, type ParseOptions, type ToJSOptions } from "yaml";
import { fetchedContextIssue } from "./fetched-kubeconfig";

/** The cluster to call and the credentials to use. */
export interface ClusterAccess {
  /**
   * The operator's own kubeconfig as YAML, which may use every field, or one that was read from a cluster. Each context
   * is another API server of the same cluster.
   */
  kubeconfig: string | FetchedKubeconfig;
}

/**
 * A kubeconfig that was read from a cluster. Anyone who can write it must not be able to run a program here or to send
 * a file of this machine, so only inline data and verified https are accepted.
 */
export class FetchedKubeconfig {
  constructor(
    /** such as "Secret demo/pool-a-kubeconfig" */
    readonly source: string,
    /** YAML */
    readonly text: string,
  ) {}

  /** Returns the kubeconfig in the field `value` of a Cluster API Secret; undefined while the Secret has none. */
  static inSecret(
    { namespace, name }: { namespace: string; name: string },
    secret: { data?: { value?: string } } | undefined,
  ): FetchedKubeconfig | undefined {
    const value = secret?.data?.value;
    if (value === undefined) return undefined;
    return new FetchedKubeconfig(
      `Secret ${namespace}/${name}`,
      Buffer.from(value, "base64").toString("utf8"),
    );
  }
}

/** A fetched kubeconfig uses a field that only the operator's own may use. Retrying does not help. */
export class KubeconfigRefused extends Error {
  override readonly name = "KubeconfigRefused";

  /** @param issue names the field and never its value */
  constructor({ source }: FetchedKubeconfig, issue: string) {
    super(
      `${source} has a kubeconfig that is refused: ${issue}. A kubeconfig that is read from a cluster may contain ` +
        `only an https address, certificates, and a key, token or password inline. Correct the Secret and run the command again.`,
    );
  }
}

/** One API server of a cluster. */
export interface Endpoint {
  /** the context's name */
  name: string;
  /** such as "https://10.0.0.1:6443" */
  server: string;
  tls: SecureContextOptions & { servername?: string; rejectUnauthorized?: boolean };
  /** without credentials from a client certificate */
  headers: Record<string, string>;
}

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

/** A context with its cluster and user. */
interface Context {
  name: string;
  cluster: Cluster;
  user: User;
  /** the names of both in messages, such as `clusters[0].cluster` */
  paths: { cluster: string; user: string };
}

/**
 * Returns the API servers of a kubeconfig, the current context's first.
 *
 * @throws Error that names what is missing, never the content; KubeconfigRefused for a fetched one
 */
export async function readEndpoints({ kubeconfig }: ClusterAccess): Promise<Endpoint[]> {
  if (kubeconfig instanceof FetchedKubeconfig) return fetchedEndpoints(kubeconfig);
  return Promise.all(
    readContexts(kubeconfig).map(async ({ name, cluster, user }) => {
      const endpoint: Endpoint = { name, server: cluster.server, tls: {}, headers: {} };
      endpoint.tls.ca = bytes(cluster["certificate-authority-data"], cluster["certificate-authority"]);
      endpoint.tls.servername = cluster["tls-server-name"];
      endpoint.tls.rejectUnauthorized = !cluster["insecure-skip-tls-verify"];
      if (user.exec || user["auth-provider"]) await logInWithLibrary(kubeconfig, endpoint);
      else addCredentials(endpoint, user);
      return endpoint;
    }),
  );
}

/** Kubeconfigs of Cluster API have about 6 kB; a Secret can have 1 MiB. */
const FETCHED_BYTES = 256 * 1024;

/**
 * Returns the API servers of a fetched kubeconfig. Without a certificate authority, the server is verified with the
 * authorities that Node.js trusts.
 *
 * @throws KubeconfigRefused
 */
function fetchedEndpoints(fetched: FetchedKubeconfig): Endpoint[] {
  const refuse = (issue: string): never => {
    throw new KubeconfigRefused(fetched, issue);
  };
  if (Buffer.byteLength(fetched.text) > FETCHED_BYTES)
    refuse(`it is larger than ${FETCHED_BYTES / 1024} KiB`);
  let contexts: Context[];
  try {
    contexts = readContexts(fetched.text, { maxAliasCount: 0 });
  } catch (error) {
    return refuse(error instanceof Error ? error.message : "it is not a kubeconfig");
  }
  return contexts.map(({ name, cluster, user, paths }) => {
    const issue = fetchedContextIssue({ cluster, user, paths });
    if (issue !== undefined) refuse(issue);
    const endpoint: Endpoint = { name, server: new URL(cluster.server).href, tls: {}, headers: {} };
    endpoint.tls.ca = bytes(cluster["certificate-authority-data"], undefined);
    endpoint.tls.servername = cluster["tls-server-name"];
    endpoint.tls.rejectUnauthorized = true;
    addCredentials(endpoint, user);
    try {
      createSecureContext(endpoint.tls);
    } catch {
      refuse(`the certificates or the key of ${paths.cluster} and ${paths.user} can't be read`);
    }
    return endpoint;
  });
}
/** Returns the contexts of a kubeconfig with their cluster and user, the current one first. */
function readContexts(text: string, options: ParseOptions & ToJSOptions = {}): Context[] {
  let config: unknown;
  try {
    // a parser warning would print lines of the file
    config = parse(text, { logLevel: "error", ...options });
  } catch {
    throw new Error("the kubeconfig is not YAML");
  }
  if (!isObject(config) || !("clusters" in config)) {
    throw new Error("the kubeconfig has no clusters: is it a kubeconfig?");
  }
  const { "current-context": current } = config;
  const contexts = entriesOf(config, "contexts", "context").sort(
    (one, other) => Number(other.name === current) - Number(one.name === current),
  );
  if (contexts.length === 0) throw new Error("the kubeconfig has no context");
  const clusters = entriesOf(config, "clusters", "cluster");
  const users = entriesOf(config, "users", "user");
  return contexts.map(({ name, value }) => {
    const cluster = clusters.find((entry) => entry.name === value.cluster);
    const user = users.find((entry) => entry.name === value.user);
    const words = `the kubeconfig's context ${JSON.stringify(name).slice(0, 80)}`;
    if (typeof cluster?.value.server !== "string" || cluster.value.server === "")
      throw new Error(`${words} has no cluster with a server`);
    if (!user) throw new Error(`${words} has no user`);
    const paths = { cluster: cluster.path, user: user.path };
    return { name, cluster: cluster.value as unknown as Cluster, user: user.value, paths };
  });
}

/** Returns the well-formed named entries of a list; ignores the others. */
function entriesOf(
  config: Record<string, unknown>,
  list: string,
  field: string,
): { name: string; value: Record<string, unknown>; path: string }[] {
  const entries: unknown = config[list];
  if (!Array.isArray(entries)) return [];
  return entries.flatMap((entry: unknown, index) =>
    isObject(entry) && typeof entry.name === "string" && isObject(entry[field])
      ? [{ name: entry.name, value: entry[field], path: `${list}[${index}].${field}` }]
      : [],
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
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

/** Logs in with the full client library, for users with an exec or auth provider. They are rare and slow anyway. */
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
