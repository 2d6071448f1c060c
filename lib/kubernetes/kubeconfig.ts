import { readFileSync } from "node:fs";
import { createSecureContext, type SecureContextOptions } from "node:tls";
import { parse, type ParseOptions, type ToJSOptions } from "yaml";

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
    return new FetchedKubeconfig(`Secret ${namespace}/${name}`, fromBase64(value).toString("utf8"));
  }
}

/** A fetched kubeconfig uses a field that only the operator's own may use. Retrying does not help. */
export class KubeconfigRefused extends Error {
  override readonly name = "KubeconfigRefused";

  /** @param issue names the field and never its value */
  constructor({ source }: FetchedKubeconfig, issue: string) {
    super(
      `${source} has a kubeconfig that is refused: ${issue}. A kubeconfig that is read from a cluster may contain ` +
        `only an https address, certificates, and a key or token inline. Correct the Secret and run the command again.`,
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

type Fields = Record<string, unknown>;

/** A context with its cluster and user as they were read: the fields of a fetched one can have values of any type. */
interface Context {
  name: string;
  cluster: Fields & { server: string };
  user: Fields;
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
    readContexts(kubeconfig).map(async (context) => {
      const isSimple = !context.user.exec && !context.user["auth-provider"];
      const endpoint = endpointOf(context, isSimple ? context.user : {});
      endpoint.tls.rejectUnauthorized = !context.cluster["insecure-skip-tls-verify"];
      if (!isSimple) await logInWithLibrary(kubeconfig, endpoint);
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
  return contexts.map((context) => {
    const issue = fetchedIssue(context);
    if (issue !== undefined) refuse(issue);
    const endpoint = endpointOf(context, context.user);
    endpoint.server = new URL(endpoint.server).href;
    endpoint.tls.rejectUnauthorized = true;
    try {
      createSecureContext(endpoint.tls);
    } catch {
      refuse(
        `the certificates or the key of ${context.paths.cluster} and ${context.paths.user} can't be read`,
      );
    }
    return endpoint;
  });
}

const BASE64 = /^[A-Za-z0-9+/=\s]*$/;
const ONE_LINE = /^\P{Cc}*$/u;
const FILE = "would read a file of this machine";
const IMPERSONATION = "would impersonate another user";
const BASIC = "would send a password, which no supported Kubernetes version accepts";

/** Fields of a fetched kubeconfig: the text that is accepted, or why the field is refused. Others are ignored. */
const FETCHED_CLUSTER: Record<string, RegExp | string> = {
  "certificate-authority": FILE,
  "insecure-skip-tls-verify": "would trust any server",
  "proxy-url": "would send the calls through a proxy",
  server: ONE_LINE,
  "certificate-authority-data": BASE64,
  "tls-server-name": ONE_LINE,
};
const FETCHED_USER: Record<string, RegExp | string> = {
  exec: "would run a program on this machine",
  "auth-provider": "would use credentials of this machine",
  tokenFile: "would send a file of this machine",
  "client-certificate": FILE,
  "client-key": FILE,
  as: IMPERSONATION,
  "as-uid": IMPERSONATION,
  "as-groups": IMPERSONATION,
  "as-user-extra": IMPERSONATION,
  username: BASIC,
  password: BASIC,
  "client-certificate-data": BASE64,
  "client-key-data": BASE64,
  token: ONE_LINE,
};

/** Returns why a fetched context is refused, or undefined: the field and the reason, never its value. */
function fetchedIssue({ cluster, user, paths }: Context): string | undefined {
  const issues = [
    ...fieldIssues(cluster, FETCHED_CLUSTER, paths.cluster),
    ...fieldIssues(user, FETCHED_USER, paths.user),
  ];
  // a refused field is the more important message
  const [issue] = [...issues.filter(({ isRefusal }) => isRefusal), ...issues];
  if (issue) return issue.words;
  if (!URL.canParse(cluster.server)) return `${paths.cluster}.server is not an address`;
  const { protocol, username, password, search, hash } = new URL(cluster.server);
  if (protocol !== "https:") return `${paths.cluster}.server does not use https`;
  return username || password || search || hash
    ? `${paths.cluster}.server has more than a host, a port and a path`
    : undefined;
}

function fieldIssues(fields: Fields, rules: typeof FETCHED_USER, path: string) {
  return Object.entries(fields).flatMap(([key, value]) => {
    const rule = Object.hasOwn(rules, key) ? rules[key] : undefined;
    if (typeof rule === "string")
      return [undefined, null, false, ""].includes(value as null)
        ? []
        : [{ isRefusal: true, words: `${path}.${key} ${rule}` }];
    // control characters could add a header
    if (rule === undefined || value === null || (typeof value === "string" && rule.test(value))) return [];
    const kind = rule === BASE64 ? "base64" : "text on one line";
    return [{ isRefusal: false, words: `${path}.${key} is not ${kind}` }];
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
  if (!isObject(config) || !("clusters" in config))
    throw new Error("the kubeconfig has no clusters: is it a kubeconfig?");
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
    const { server } = cluster.value;
    const paths = { cluster: cluster.path, user: user.path };
    return { name, cluster: { ...cluster.value, server }, user: user.value, paths };
  });
}

/** Returns the well-formed named entries of a list; ignores the others. */
function entriesOf(config: Fields, list: string, field: string) {
  const entries: unknown = config[list];
  if (!Array.isArray(entries)) return [];
  return entries.flatMap((entry: unknown, index) =>
    isObject(entry) && typeof entry.name === "string" && isObject(entry[field])
      ? [{ name: entry.name, value: entry[field], path: `${list}[${index}].${field}` }]
      : [],
  );
}

function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const fromBase64 = (data: string): Buffer => Buffer.from(data, "base64");

/** Returns a context's API server with the credentials of its user. */
function endpointOf({ name, cluster }: Context, user: Fields): Endpoint {
  /** the inline data of a field, or its file */
  const bytes = (fields: Fields, field: string): Buffer | undefined => {
    const { [`${field}-data`]: data, [field]: path } = fields as Record<string, string | undefined>;
    if (data) return fromBase64(data);
    return path ? readFileSync(path) : undefined;
  };
  const { token: inline, tokenFile, username, password = "" } = user as Record<string, string | undefined>;
  const token = inline ?? (tokenFile && readFileSync(tokenFile, "utf8").trim());
  const basic = username && `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
  const authorization = token ? `Bearer ${token}` : basic;
  return {
    name,
    server: cluster.server,
    tls: {
      ca: bytes(cluster, "certificate-authority"),
      servername: cluster["tls-server-name"] as string | undefined,
      cert: bytes(user, "client-certificate"),
      key: bytes(user, "client-key"),
    },
    headers: authorization ? { Authorization: authorization } : {},
  };
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
