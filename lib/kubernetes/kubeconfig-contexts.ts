import { messageOf } from "../error-message";
import { readGivenFileSync } from "../files";
import { isObject } from "../json";
import { readYaml } from "../yaml";

export type Fields = Record<string, unknown>;

/** A context with its cluster and user as they were read: the fields of a fetched one can have values of any type. */
export interface Context {
  name: string;
  cluster: Fields & { server: string };
  user: Fields;
  /** the names of both in messages, such as `clusters[0].cluster` */
  paths: { cluster: string; user: string };
}

/**
 * Returns the contexts of a kubeconfig with their cluster and user, the current one first.
 *
 * @throws Error that names what is missing, never the content
 */
export function readContexts(text: string, limits: { bytes?: number; aliases?: number } = {}): Context[] {
  let config: unknown;
  try {
    config = readYaml(text, limits);
  } catch (error) {
    throw new Error(`the kubeconfig ${messageOf(error)}`, { cause: error });
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

/** Reads a file that a kubeconfig names in a field. */
export const readNamed = (file: string, field: string): Buffer =>
  readGivenFileSync(file, `the kubeconfig's ${field}`, "put the file back, or export the kubeconfig again");

/** Returns the inline data of a field, or the content of its file; undefined when it has neither. */
export function inlineOrFile(fields: Fields, field: string): Buffer | undefined {
  const { [`${field}-data`]: data, [field]: file } = fields as Record<string, string | undefined>;
  if (data) return Buffer.from(data, "base64");
  return file ? readNamed(file, field) : undefined;
}
