import { isDeepStrictEqual } from "node:util";
import { stringify } from "yaml";
import { isObject } from "../../../lib/json";
import { parseYaml } from "../../../lib/yaml";

type Fields = Readonly<Record<string, unknown>>;

/** How to reach a cluster: the fields of a kubeconfig's cluster and user. */
export interface ClusterLogin {
  readonly cluster: Fields;
  readonly user: Fields;
}

/** What a stack has for the collected kubeconfig. */
export interface StackLogin {
  /** "organization/project/stack" */
  readonly stack: string;
  /** the login, or why there is none */
  readonly login: ClusterLogin | string;
}

/** One kubeconfig for the clusters of several stacks. */
interface CollectedKubeconfig {
  /** YAML */
  readonly kubeconfig: string;
  /** Names of its contexts. */
  readonly contexts: readonly string[];
  /** Stacks without a context, and why. */
  readonly missing: readonly { readonly stack: string; readonly reason: string }[];
}

/**
 * Returns a name for the context of each stack: the stack's own, or, where several have it, with the project and
 * then the organization before it.
 *
 * @param stacks different names, "organization/project/stack"
 */
export function contextNames(stacks: readonly string[]): string[] {
  const endings = (parts: number) => stacks.map((stack) => stack.split("/").slice(-parts).join("/"));
  const [one, two] = [endings(1), endings(2)];
  const isAlone = (names: readonly string[], name: string) => names.indexOf(name) === names.lastIndexOf(name);
  return stacks.map(
    (stack, index) =>
      [one, two].map((names) => names[index] ?? "").find((name, at) => isAlone([one, two][at] ?? [], name)) ??
      stack,
  );
}

/**
 * Merges the logins of stacks into one kubeconfig. Context, cluster and user of a stack have the same name. There is no
 * current context: a command without `--context` reaches no region by accident.
 *
 * @param stacks different stacks, in the order of the contexts
 */
export function mergeKubeconfigs(stacks: readonly StackLogin[]): CollectedKubeconfig {
  const names = contextNames(stacks.map(({ stack }) => stack));
  const entries = stacks.flatMap(({ login }, index) =>
    typeof login === "string" ? [] : [{ name: names[index] ?? "", ...login }],
  );
  const kubeconfig = stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: entries.map(({ name, cluster }) => ({ name, cluster })),
    users: entries.map(({ name, user }) => ({ name, user })),
    contexts: entries.map(({ name }) => ({ name, context: { cluster: name, user: name } })),
  });
  return {
    kubeconfig,
    contexts: entries.map(({ name }) => name),
    missing: stacks.flatMap(({ stack, login }) =>
      typeof login === "string" ? [{ stack, reason: login }] : [],
    ),
  };
}

/** What an update of a collected kubeconfig does to a context. */
interface ContextChange {
  readonly kind: "added" | "changed" | "removed";
  readonly context: string;
}

/**
 * Compares two collected kubeconfigs.
 *
 * @param before YAML; undefined when there was none
 */
export function contextChanges(before: string | undefined, after: string): ContextChange[] {
  const [olds, news] = [loginsOf(before), loginsOf(after)];
  const kept = [...news].flatMap(([context, login]): ContextChange[] => {
    const old = olds.get(context);
    if (old === undefined) return [{ kind: "added", context }];
    return isDeepStrictEqual(old, login) ? [] : [{ kind: "changed", context }];
  });
  const removed = [...olds.keys()].filter((context) => !news.has(context));
  return [...kept, ...removed.map((context): ContextChange => ({ kind: "removed", context }))];
}

/** Returns cluster and user of each context; nothing for a text that is not a collected kubeconfig. */
function loginsOf(kubeconfig = ""): Map<string, readonly unknown[]> {
  const config = parseYaml(kubeconfig);
  const entries = (list: string): { name: string }[] => {
    const found: unknown = isObject(config) ? config[list] : undefined;
    return Array.isArray(found) ? found.filter(isNamed) : [];
  };
  const named = (list: string, name: string) => entries(list).find((entry) => entry.name === name);
  return new Map(
    entries("contexts").map(({ name }) => [name, [named("clusters", name), named("users", name)]]),
  );
}

const isNamed = (entry: unknown): entry is { name: string } =>
  isObject(entry) && typeof entry.name === "string";
