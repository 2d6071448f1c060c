import { isObject, stableJson } from "../../../../lib/json";
import { printable, shortened } from "../../../../lib/text/quote";
import { formatPath } from "../../../../lib/validation/validation-issue";

/** The file of each machine for which kubeadm's patches are offered. */
export const KUBELET_FILE = "/var/lib/kubelet/config.yaml";

/** A file or an object that kubeadm writes again with a version. */
export interface RewrittenObject {
  /** "the static pod kube-apiserver" */
  object: string;
  /** Whether it is in the cluster, and not on one machine. */
  isOfCluster: boolean;
  /** As it is now. */
  current: unknown;
  /**
   * As kubeadm would write it, from each configuration that the cluster had, has and gets. What only some of them have
   * is a setting of the stack, whose changes other lines list.
   */
  rendered: readonly unknown[];
}

/** A setting that others wrote, and kubeadm does not know. */
export interface LostSetting {
  /** "gets back": others removed it, and kubeadm writes it again. */
  change: "loses" | "gets back";
  /** Its name without its value, which may be secret: "--audit-log-path", "limit memory". */
  setting: string;
  object: string;
}

/** The values of each setting, by its name. */
type Settings = Map<string, Set<string>>;

/** How many settings of one machine are listed. */
const MOST = 40;
/** The longest name of a setting, in characters. */
const LONGEST = 120;

/**
 * Returns the settings that are not as any configuration of kubeadm says, in the order of the objects: each that goes away
 * when kubeadm writes the objects again, and each that comes back.
 *
 * @param comparesTags whether a tag of an image that is not kubeadm's counts; not while nodes have different versions
 */
export function lostSettings(objects: readonly RewrittenObject[], comparesTags: boolean): LostSetting[] {
  const found = objects.flatMap(({ object, current, rendered }) => {
    if (current === undefined || rendered.length === 0) return [];
    const main = mainContainers(rendered);
    const read = (value: unknown) => settingsOf(value, main, comparesTags);
    const [now, afterwards] = [read(current), rendered.map(read)];
    const names = [...new Set([now, ...afterwards].flatMap((settings) => [...settings.keys()]))];
    return names.flatMap((name): LostSetting[] => {
      const [own = new Set(), ...others] = [now, ...afterwards].map(
        (settings) => settings.get(name) ?? new Set(),
      );
      const setting = printable(shortened(name, LONGEST));
      if ([...own].some((value) => others.every((each) => !each.has(value))))
        return [{ change: "loses", setting, object }];
      const back = [...(others[0] ?? [])].some(
        (value) => !own.has(value) && others.every((each) => each.has(value)),
      );
      return back ? [{ change: "gets back", setting, object }] : [];
    });
  });
  const more = found.length - MOST;
  const last = found[MOST];
  if (more <= 0 || !last) return found;
  return [...found.slice(0, MOST), { ...last, setting: `${more} more settings` }];
}

/** Fields that the API server and the kubelet write, and names that say which object it is. */
const IGNORED = new Set([
  ...[
    "apiVersion",
    "kind",
    "status",
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "metadata.generation",
  ],
  ...["metadata.resourceVersion", "metadata.creationTimestamp", "metadata.managedFields"],
  // its number of pods stays
  "spec.replicas",
  // kubeadm takes it from the machine
  "containerRuntimeEndpoint",
  // a member of etcd has joined with them, and starts without them
  ...["--initial-cluster", "--initial-cluster-state"],
  ...["annotation deprecated.daemonset.template.generation", "annotation deployment.kubernetes.io/revision"],
  ...[
    "annotation kubectl.kubernetes.io/restartedAt",
    "annotation kubectl.kubernetes.io/last-applied-configuration",
  ],
]);

/** Settings of lists whose entries have names, by the field with the name. */
const NAMED: Readonly<Record<string, { noun: string; key: string }>> = {
  env: { noun: "variable", key: "name" },
  volumes: { noun: "volume", key: "name" },
  volumeMounts: { noun: "mount", key: "mountPath" },
  ports: { noun: "port", key: "name" },
};

/** Settings of objects that have a word of their own, by the end of their path. */
const WORDS: Readonly<Record<string, string>> = {
  "resources.limits": "limit",
  "resources.requests": "request",
  "metadata.labels": "label",
  "metadata.annotations": "annotation",
};

/** Returns the names of kubeadm's own containers: others are settings as a whole. */
function mainContainers(rendered: readonly unknown[]): ReadonlySet<string> {
  const names = new Set<string>();
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) for (const item of value as unknown[]) visit(item);
    if (!isObject(value)) return;
    if (Array.isArray(value.containers))
      for (const container of value.containers as unknown[])
        if (isObject(container)) names.add(String(container.name));
    for (const child of Object.values(value)) visit(child);
  };
  for (const each of rendered) visit(each);
  return names;
}

function settingsOf(object: unknown, main: ReadonlySet<string>, comparesTags: boolean): Settings {
  const settings: Settings = new Map();
  const add = (name: string, value: unknown) => {
    if (IGNORED.has(name)) return;
    settings.set(name, (settings.get(name) ?? new Set()).add(stableJson(value)));
  };
  const visit = (value: unknown, path: readonly string[]): void => {
    const field = path.at(-1) ?? "";
    if (IGNORED.has(path.join(".")) || isUnset(value, path)) return;
    if (isObject(value)) {
      const word = WORDS[path.slice(-2).join(".")];
      for (const [key, child] of Object.entries(value))
        if (word === undefined) visit(child, [...path, key]);
        else add(`${word} ${key}`, child);
    } else if (!Array.isArray(value))
      add(formatPath(path), field === "image" ? imageOf(value, comparesTags) : value);
    else for (const item of value as unknown[]) visitItem(item, field, path);
  };
  const visitItem = (item: unknown, field: string, path: readonly string[]): void => {
    const named = NAMED[field];
    if (field === "containers" && isObject(item)) {
      const { name, ...fields } = item;
      if (!main.has(String(name))) add(`container ${String(name)}`, item);
      else for (const [key, child] of Object.entries(fields)) visit(child, [key]);
    } else if ((field === "command" || field === "args") && typeof item === "string") {
      const [, name = item, value = ""] = /^(--?[^=]+)(=[^]*)?$/.exec(item) ?? [];
      add(name, value);
    } else if (named && isObject(item)) add(`${named.noun} ${String(item[named.key])}`, item);
    else add(formatPath(path), item);
  };
  visit(object, []);
  return settings;
}

/** Returns whether a value is that of a field which is not there. */
function isUnset(value: unknown, path: readonly string[]): boolean {
  if (value === undefined || value === null || value === "") return true;
  // kubeadm writes durations that are not set as zero, and a few numbers
  if (value === "0s") return true;
  if ((value === 0 || value === "0") && path[0] === "logging") return true;
  if (Array.isArray(value)) return value.length === 0;
  return isObject(value) && Object.keys(value).length === 0;
}

/** Returns an image without its tag, which another version changes, unless the tag counts. */
function imageOf(value: unknown, comparesTags: boolean): unknown {
  if (typeof value !== "string" || comparesTags) return value;
  return value.replace(/@.*$/, "").replace(/:[^/:]*$/, "");
}

/** What kubeadm's patches can't have without writing a secret into a file. */
const SECRET_FIELDS = ["staticPodURLHeader"];

/**
 * Returns the settings of an object that kubeadm does not know, as a merge patch of kubeadm that keeps them; undefined for
 * none. Lists are in it as a whole.
 */
export function keepingPatch({ current, rendered }: RewrittenObject): Record<string, unknown> | undefined {
  const differing = (value: unknown, others: readonly unknown[], path: readonly string[]): unknown => {
    if (IGNORED.has(path.join(".")) || SECRET_FIELDS.includes(path[0] ?? "") || isUnset(value, path))
      return undefined;
    if (!isObject(value))
      return others.some((other) => stableJson(other) === stableJson(value)) ? undefined : value;
    const entries = Object.entries(value).flatMap(([key, child]) => {
      const below = others.map((other) => (isObject(other) ? other[key] : undefined));
      const kept = differing(child, below, [...path, key]);
      return kept === undefined ? [] : [[key, kept] as const];
    });
    return entries.length > 0 ? Object.fromEntries(entries) : undefined;
  };
  return differing(current, rendered, []) as Record<string, unknown> | undefined;
}
