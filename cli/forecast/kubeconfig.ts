import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import path from "node:path";
import { stringify } from "yaml";
import { isObject } from "../../lib/json";
import { listed } from "../../lib/text/quote";
import { fileFault } from "../../lib/files";
import { readYaml } from "../../lib/yaml";
import { inlineOrFile } from "../../lib/kubernetes/kubeconfig-contexts";

interface Kubeconfig {
  "current-context"?: string;
  contexts?: { name: string; context: { cluster: string; user: string } }[];
  clusters?: { name: string; cluster: Record<string, unknown> }[];
  users?: { name: string; user: Record<string, unknown> }[];
}

export interface ChosenContext {
  /** a kubeconfig with only this context, because several would count as API servers of one cluster */
  kubeconfig: string;
  context: string;
  /** the client certificate, PEM; undefined for other ways to log in */
  clientCertificate?: string;
}

/**
 * Reads one context of a kubeconfig file.
 *
 * @throws Error that names the file and what to do
 */
export function chooseContext(file: string, wanted?: string): ChosenContext {
  const config = read(file);
  const names = (config.contexts ?? []).map(({ name }) => name);
  const name = wanted ?? (config["current-context"] || (names.length === 1 ? names[0] : undefined));
  const having = names.length > 0 ? `it has ${listed(names)}` : "it has none";
  if (name === undefined)
    throw new Error(`${file} names no current context: choose one with --context (${having})`);
  const chosen = config.contexts?.find((context) => context.name === name);
  if (!chosen) throw new Error(`${file} has no context "${name}": ${having}`);

  const folder = path.dirname(path.resolve(file));
  const cluster = config.clusters?.find((entry) => entry.name === chosen.context.cluster)?.cluster;
  const user = config.users?.find((entry) => entry.name === chosen.context.user)?.user;
  if (!cluster) throw new Error(`${file}: the context "${name}" names a cluster that is not in the file`);
  if (!user) throw new Error(`${file}: the context "${name}" names a user that is not in the file`);
  const credentials = absolute(user, folder);
  const kubeconfig = stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: chosen.context.cluster, cluster: absolute(cluster, folder) }],
    users: [{ name: chosen.context.user, user: credentials }],
    contexts: [{ name, context: chosen.context }],
    "current-context": name,
  });
  const clientCertificate = inlineOrFile(credentials, "client-certificate")?.toString("utf8");
  return { kubeconfig, context: name, clientCertificate };
}

/**
 * Returns the kubeconfig to read: the given one, or as kubectl finds it. Of several files in KUBECONFIG, it is the first that has
 * the wanted context, or names a current one.
 *
 * @throws Error that says what to do
 */
export function findKubeconfig(
  given: string | undefined,
  wanted?: string,
  environment: NodeJS.ProcessEnv = process.env,
): string {
  if (given !== undefined) return given;
  const named = (environment["KUBECONFIG"] ?? "").split(path.delimiter).filter((file) => file !== "");
  const files = named.length > 0 ? named : [path.join(environment["HOME"] ?? homedir(), ".kube", "config")];
  const there = files.filter((file) => existsSync(file));
  const [only] = there;
  if (only === undefined)
    throw new Error(`there is no kubeconfig at ${listed(files)}; give its path with --kubeconfig`);
  if (there.length === 1) return only;
  const found = there.find((file) => {
    const config = read(file);
    return wanted === undefined
      ? Boolean(config["current-context"])
      : config.contexts?.some(({ name }) => name === wanted);
  });
  if (found !== undefined) return found;
  const what = wanted === undefined ? "names a current context" : `has the context "${wanted}"`;
  throw new Error(`none of KUBECONFIG's files ${what}; choose one with --kubeconfig`);
}

function read(file: string): Kubeconfig {
  try {
    const config = readYaml(readFileSync(file, "utf8"));
    if (isObject(config) && "contexts" in config) return config;
  } catch (cause) {
    const fault = fileFault(cause);
    const message = `can't read the kubeconfig ${file}: ${fault}; give its path with --kubeconfig`;
    if (fault !== undefined) throw new Error(message, { cause });
  }
  throw new Error(`${file} is not a kubeconfig; on a control plane it is /etc/kubernetes/admin.conf`);
}

const FILES = ["certificate-authority", "client-certificate", "client-key", "tokenFile"];

/** Resolves paths relative to the file's folder, as kubectl does. */
function absolute(fields: Record<string, unknown>, folder: string): Record<string, unknown> {
  const resolved = (key: string, value: unknown) =>
    FILES.includes(key) && typeof value === "string" ? path.resolve(folder, value) : value;
  return Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, resolved(key, value)]));
}
