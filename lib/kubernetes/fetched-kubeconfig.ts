import { stringify } from "yaml";
import { type Context, type Fields, readContexts } from "./kubeconfig-contexts";

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
  constructor(
    { source }: FetchedKubeconfig,
    readonly issue: string,
  ) {
    super(
      `${source} has a kubeconfig that is refused: ${issue}. A kubeconfig that is read from a cluster or from another ` +
        `stack may contain only an https address, certificates, and a key or token inline. ` +
        `Correct it there and run the command again.`,
    );
  }
}

/** Kubeconfigs of Cluster API have about 6 kB; a Secret can have 1 MiB. */
const FETCHED_BYTES = 256 * 1024;

/**
 * Returns the contexts of a fetched kubeconfig, with accepted values only; fields that foresail ignores are still there.
 *
 * @throws KubeconfigRefused
 */
export function fetchedContexts(fetched: FetchedKubeconfig): Context[] {
  const refuse = (issue: string): never => {
    throw new KubeconfigRefused(fetched, issue);
  };
  let contexts: Context[];
  try {
    contexts = readContexts(fetched.text, { bytes: FETCHED_BYTES, aliases: 0 });
  } catch (error) {
    return refuse(error instanceof Error ? error.message : "it is not a kubeconfig");
  }
  for (const context of contexts) {
    const issue = fetchedIssue(context);
    if (issue !== undefined) refuse(issue);
  }
  return contexts;
}

/**
 * Returns a fetched kubeconfig for other programs, with the accepted fields alone: a program may read what foresail
 * ignores, as kubectl reads the merge keys of YAML 1.1.
 *
 * @returns YAML
 * @throws KubeconfigRefused
 */
export function acceptedKubeconfig(fetched: FetchedKubeconfig): string {
  const contexts = acceptedContexts(fetched);
  return stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: contexts.map(({ name, cluster }) => ({ name, cluster })),
    users: contexts.map(({ name, user }) => ({ name, user })),
    contexts: contexts.map(({ name }) => ({ name, context: { cluster: name, user: name } })),
    "current-context": contexts[0]?.name,
  });
}

/**
 * Returns the contexts of a fetched kubeconfig with the accepted fields alone, the current one first.
 *
 * @throws KubeconfigRefused
 */
export function acceptedContexts(
  fetched: FetchedKubeconfig,
): { name: string; cluster: Fields; user: Fields }[] {
  return fetchedContexts(fetched).map(({ name, cluster, user }) => ({
    name,
    cluster: accepted(cluster, FETCHED_CLUSTER),
    user: accepted(user, FETCHED_USER),
  }));
}

/** Returns the fields that have a rule for their text. */
function accepted(fields: Fields, rules: Record<string, RegExp | string>): Fields {
  const isAccepted = ([field, value]: [string, unknown]) =>
    typeof value === "string" && Object.hasOwn(rules, field) && rules[field] instanceof RegExp;
  return Object.fromEntries(Object.entries(fields).filter(isAccepted));
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
