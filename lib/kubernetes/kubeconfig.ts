import { isObject } from "../json";
import { createSecureContext, type SecureContextOptions } from "node:tls";
import { stringify } from "yaml";
import { FetchedKubeconfig, fetchedContexts, KubeconfigRefused } from "./fetched-kubeconfig";
import { impersonationHeaders } from "./impersonation";
import { type Context, type Fields, inlineOrFile, readContexts, readNamed } from "./kubeconfig-contexts";
import { withoutSecrets } from "./login-program";
import { ownContextIssue } from "./own-kubeconfig";
import { type Proxy, proxyOf } from "./proxy";

/** The cluster to call and the credentials to use. */
export interface ClusterAccess {
  /**
   * The operator's own kubeconfig as YAML, which may use every field, or one that was read from a cluster. Each context
   * is another API server of the same cluster.
   */
  kubeconfig: string | FetchedKubeconfig;
}

/** One API server of a cluster. */
export interface ApiEndpoint {
  /** the context's name */
  name: string;
  /** such as "https://10.0.0.1:6443" */
  server: string;
  tls: SecureContextOptions & { servername?: string; rejectUnauthorized?: boolean };
  /** without credentials from a client certificate */
  headers: Record<string, string | string[]>;
  /** the way to the server; undefined for a direct one */
  proxy?: Proxy;
}

/**
 * Returns the API servers of a kubeconfig, the current context's first.
 *
 * @throws Error that names what is missing, never the content; KubeconfigRefused for a fetched one
 */
export async function readEndpoints({ kubeconfig }: ClusterAccess): Promise<ApiEndpoint[]> {
  if (kubeconfig instanceof FetchedKubeconfig) return fetchedEndpoints(kubeconfig);
  return Promise.all(
    readContexts(kubeconfig).map(async (context) => {
      const issue = ownContextIssue(context);
      if (issue !== undefined) throw new Error(`the kubeconfig's ${issue}`);
      const isSimple = !context.user.exec && !context.user["auth-provider"];
      const endpoint = endpointOf(context, isSimple ? context.user : {});
      endpoint.tls.rejectUnauthorized = !context.cluster["insecure-skip-tls-verify"];
      endpoint.proxy = await proxyOf(context);
      if (!isSimple) await logInWithLibrary(context, endpoint);
      endpoint.headers = { ...endpoint.headers, ...impersonationHeaders(context) };
      return endpoint;
    }),
  );
}

/**
 * Returns the API servers of a fetched kubeconfig. Without a certificate authority, the server is verified with the
 * authorities that Node.js trusts.
 *
 * @throws KubeconfigRefused
 */
function fetchedEndpoints(fetched: FetchedKubeconfig): ApiEndpoint[] {
  return fetchedContexts(fetched).map((context) => {
    const endpoint = endpointOf(context, context.user);
    endpoint.server = new URL(endpoint.server).href;
    endpoint.tls.rejectUnauthorized = true;
    try {
      createSecureContext(endpoint.tls);
    } catch {
      const { cluster, user } = context.paths;
      throw new KubeconfigRefused(
        fetched,
        `the certificates or the key of ${cluster} and ${user} can't be read`,
      );
    }
    return endpoint;
  });
}

/** Returns a context's API server with the credentials of its user. */
function endpointOf({ name, cluster }: Context, user: Fields): ApiEndpoint {
  const { token: inline, tokenFile, username, password = "" } = user as Record<string, string | undefined>;
  const token = inline ?? (tokenFile && readNamed(tokenFile, "tokenFile").toString("utf8").trim());
  const basic = username && `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
  const authorization = token ? `Bearer ${token}` : basic;
  return {
    name,
    server: cluster.server,
    tls: {
      ca: inlineOrFile(cluster, "certificate-authority"),
      servername: (cluster["tls-server-name"] as string | null | undefined) || undefined,
      cert: inlineOrFile(user, "client-certificate"),
      key: inlineOrFile(user, "client-key"),
    },
    headers: authorization ? { Authorization: authorization } : {},
  };
}

/** Logs in with the full client library, for users with an exec or auth provider. They are rare and slow anyway. */
async function logInWithLibrary({ name, cluster, user }: Context, endpoint: ApiEndpoint): Promise<void> {
  const { KubeConfig } = await import("@kubernetes/client-node");
  const config = new KubeConfig();
  const { exec } = user;
  config.loadFromString(
    stringify({
      apiVersion: "v1",
      kind: "Config",
      clusters: [{ name, cluster }],
      users: [{ name, user: isObject(exec) ? { ...user, exec: withoutSecrets(exec) } : user }],
      contexts: [{ name, context: { cluster: name, user: name } }],
      "current-context": name,
    }),
  );
  const options: { headers?: Record<string, string>; cert?: Buffer; key?: Buffer; ca?: Buffer } = {};
  await config.applyToHTTPSOptions(options);
  endpoint.tls.cert = options.cert;
  endpoint.tls.key = options.key;
  endpoint.headers = { ...endpoint.headers, ...options.headers };
}
