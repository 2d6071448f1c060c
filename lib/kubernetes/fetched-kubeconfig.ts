/** A context of a kubeconfig as it was read: the fields can have values of any type. */
interface WrittenContext {
  readonly cluster: object;
  readonly user: object;
  /** the names of both in messages, such as "clusters[0].cluster" */
  readonly paths: { readonly cluster: string; readonly user: string };
}

const CLUSTER_REFUSALS: Record<string, string> = {
  "certificate-authority": "would read a file of this machine",
  "insecure-skip-tls-verify": "would trust any server",
  "proxy-url": "would send the calls through a proxy",
};

const USER_REFUSALS: Record<string, string> = {
  exec: "would run a program on this machine",
  "auth-provider": "would use credentials of this machine",
  tokenFile: "would send a file of this machine",
  "client-certificate": "would read a file of this machine",
  "client-key": "would read a file of this machine",
  as: "would impersonate another user",
  "as-uid": "would impersonate another user",
  "as-groups": "would impersonate another user",
  "as-user-extra": "would impersonate another user",
};

const BASE64 = /^[A-Za-z0-9+/=\s]*$/;
const ONE_LINE = /^\P{Cc}*$/u;

/** The accepted fields of a fetched kubeconfig. */
const CLUSTER_TEXTS = {
  server: ONE_LINE,
  "certificate-authority-data": BASE64,
  "tls-server-name": ONE_LINE,
};
const USER_TEXTS = {
  "client-certificate-data": BASE64,
  "client-key-data": BASE64,
  token: ONE_LINE,
  username: ONE_LINE,
  password: ONE_LINE,
};

/**
 * Returns why a context of a kubeconfig that was read from a cluster is refused, or undefined. Only inline data over
 * verified https is accepted. Without a certificate authority, the system's authorities verify the server.
 *
 * @returns the field and the reason, never its value
 */
export function fetchedContextIssue({ cluster, user, paths }: WrittenContext): string | undefined {
  return (
    refusedField(cluster, CLUSTER_REFUSALS, paths.cluster) ??
    refusedField(user, USER_REFUSALS, paths.user) ??
    textIssue(cluster, CLUSTER_TEXTS, paths.cluster) ??
    textIssue(user, USER_TEXTS, paths.user) ??
    serverIssue(cluster, paths.cluster)
  );
}

/** @returns the first field with a value that is not allowed, and why */
function refusedField(fields: object, refusals: Record<string, string>, path: string): string | undefined {
  const found = Object.entries(fields).find(
    ([key, value]) => Object.hasOwn(refusals, key) && ![undefined, null, false, ""].includes(value as null),
  );
  return found && `${path}.${found[0]} ${refusals[found[0]]}`;
}

/** @returns the first accepted field that is not text, or has control characters, which could add a header */
function textIssue(fields: object, texts: Record<string, RegExp>, path: string): string | undefined {
  const found = Object.entries(fields).find(([key, value]: [string, unknown]) => {
    if (!Object.hasOwn(texts, key) || value === null) return false;
    return typeof value !== "string" || texts[key]?.test(value) !== true;
  });
  return found && `${path}.${found[0]} is not ${texts[found[0]] === BASE64 ? "base64" : "text on one line"}`;
}

function serverIssue(cluster: { server?: string }, path: string): string | undefined {
  const { server = "" } = cluster;
  if (!URL.canParse(server)) return `${path}.server is not an address`;
  const { protocol, username, password, search, hash } = new URL(server);
  if (protocol !== "https:") return `${path}.server does not use https`;
  return username || password || search || hash
    ? `${path}.server has more than a host, a port and a path`
    : undefined;
}
