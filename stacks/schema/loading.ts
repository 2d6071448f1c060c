import * as pulumi from "@pulumi/pulumi";
import { parseJson } from "../../lib/json";
import { warn as logWarning } from "../../lib/pulumi/log";
import { hasPrivateKey, quoted } from "../../lib/text/quote";
import { renameFields } from "../../lib/validation/renames";
import { nearest, unknownWord } from "../../lib/validation/spelling";
import {
  type ConfigurationPath,
  type ValidationIssue,
  formatPath,
  issueAt,
  issueCount,
  issueLines,
} from "../../lib/validation/validation-issue";
import { ClusterInput } from "./cluster";
import { type Configuration, readSystem } from "./reading";
import { CONFIGURATION_KEYS, type ConfigurationKey, type KeyName, SYSTEMS, type System } from "./keys";

/** Source of the configuration. Values are strings; objects are JSON. */
export interface ConfigurationReader {
  project: string;
  stack: string;
  values: Readonly<Record<string, string>>;
  /** Whether a full key, "foresail:sshPrivateKey", is encrypted. */
  isSecret(key: string): boolean;
}

/** Returns a reader of the configuration that the engine passes to the program. */
export function engineReader(project = pulumi.getProject()): ConfigurationReader {
  // The typings lack isConfigSecret, which pulumi.Config uses itself. Getters of Config would log a warning for each
  // secret, and they can't list the keys.
  const runtime = pulumi.runtime as unknown as { isConfigSecret(key: string): boolean };
  return {
    project,
    stack: pulumi.getStack(),
    values: pulumi.runtime.allConfig(),
    isSecret: (key) => runtime.isConfigSecret(key),
  };
}

/**
 * Reads and checks the whole configuration of the stack.
 *
 * @param warn takes the old names in the file, one per line
 * @throws pulumi.RunError with the stack file and the validation issues, one per line
 */
export function loadConfiguration(
  reader: ConfigurationReader = engineReader(),
  warn: (message: string) => void = (message) => void logWarning(message),
): Configuration {
  const written = reader.values[`${reader.project}:system`] ?? CONFIGURATION_KEYS.system.default;
  const system = SYSTEMS.find((one) => one === written);
  // The rules of other keys depend on the system, so they are not checked while it is invalid.
  const read = system === undefined ? unknownSystem(written) : readValues(system, reader);
  const issues = [...keyIssues(reader, system), ...read.issues];
  const lines = (list: readonly ValidationIssue[]) => issueLines(list).map((line) => `\n  ${line}`);
  const file = `Pulumi.${reader.stack}.yaml`;
  if (issues.length > 0 || !read.value)
    throw new pulumi.RunError(
      `${file} has ${issueCount(issues)}; nothing was changed:${lines(issues).join("")}`,
    );
  if (read.deprecations.length > 0) warn(`${file} has old names:${lines(read.deprecations).join("")}`);
  return read.value;
}

interface Read {
  value?: Configuration | undefined;
  issues: ValidationIssue[];
  /** Fields with old names. */
  deprecations: ValidationIssue[];
}

function unknownSystem(written: string): Read {
  const meant = nearest(written, SYSTEMS);
  const fix =
    meant === undefined
      ? `write ${SYSTEMS.map((system) => `"${system}"`).join(" or ")}`
      : `did you mean "${meant}"?`;
  return {
    issues: [{ path: ["system"], message: `${quoted(written)} is not a system; ${fix}` }],
    deprecations: [],
  };
}

/** Reads the keys of a system by their current names. Adds structure issues for paths without another issue. */
function readValues(system: System, { project, values }: ConfigurationReader): Read {
  const keys = Object.entries<ConfigurationKey>(CONFIGURATION_KEYS).flatMap(
    ([key, { type, renames = {} }]) => {
      const text = values[`${project}:${key}`];
      if (text === undefined) return [];
      // the engine passes objects as JSON; the rules refuse any other text
      const object = type === "object" ? parseJson(text) : undefined;
      return [{ key, renames, value: object === undefined ? text : object }];
    },
  );
  const structure = structureIssues(keys);
  if (structure.tooDeep.length > 0) return { issues: structure.tooDeep, deprecations: [] };
  const renamed = new Map(keys.map(({ key, value, renames }) => [key, renameFields(value, renames, [key])]));
  const { value, issues } = readSystem(system, (key) => renamed.get(key)?.value);
  const own = issues.map(({ path, message }) => ({
    path: renamed.get(String(path[0]))?.written(path) ?? path,
    message,
  }));
  const said = new Set(own.map(({ path }) => formatPath(path)));
  const all = [...renamed.values()];
  return {
    value,
    issues: [
      ...all.flatMap((one) => one.issues),
      ...own,
      ...structure.issues.filter(({ path }) => !said.has(formatPath(path))),
    ],
    deprecations: all.flatMap((one) => one.deprecations),
  };
}

/** Maximum nesting of a value. A Kubernetes object has about ten levels, and the rules visit all of them. */
const DEEPEST = 64;

const KEY_IN_PLAIN =
  "contains a private key, which would be stored and shown in plain; remove it, and replace the key that was shown";
const NO_TEXT =
  "contains a NUL character or half of a character, which no file, program or Kubernetes object takes; remove it";

interface Structure {
  /** Issues of values that are nested too deeply for other rules. */
  tooDeep: ValidationIssue[];
  issues: ValidationIssue[];
}

/** Returns issues that every key can have, independent of its schema: deep nesting, `__proto__`, plain private keys. */
function structureIssues(keys: readonly { key: string; value: unknown }[]): Structure {
  const found: Structure = { tooDeep: [], issues: [] };
  for (const { key, value } of keys) {
    const { type, secret } = CONFIGURATION_KEYS[key as KeyName];
    if (type === "object") visit(value, [key], secret, found);
  }
  return found;
}

/** Visits a value without recursion, because its depth is unknown. */
function visit(value: unknown, root: ConfigurationPath, secret: boolean, found: Structure): void {
  const open: [value: unknown, path: ConfigurationPath][] = [[value, root]];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [at, path] = next;
    if (path.length > DEEPEST) {
      const message = `is nested more than ${DEEPEST} levels deep; write fewer`;
      found.tooDeep.push({ path: path.slice(0, 8), message });
      return;
    }
    if (typeof at === "string" && !secret) {
      if (hasPrivateKey(at)) found.issues.push({ path, message: KEY_IN_PLAIN });
      if (/[\0\p{Cs}]/u.test(at)) found.issues.push({ path, message: NO_TEXT });
    }
    if (typeof at !== "object" || at === null) continue;
    if (Object.hasOwn(at, "__proto__"))
      found.issues.push({
        path: [...path, "__proto__"],
        message: "is not a name that JavaScript accepts; remove it",
      });
    for (const [key, below] of Object.entries(at))
      open.push([below, [...path, Array.isArray(at) ? Number(key) : key]]);
  }
}

/** Returns issues of keys that are unknown, belong to another system, or are wrongly encrypted or not encrypted. */
function keyIssues(keys: ConfigurationReader, system: System | undefined): ValidationIssue[] {
  const { project, values } = keys;
  const all = Object.keys(values);
  const ours = all.filter((key) => key.startsWith(`${project}:`));
  const own = ours.flatMap((fullKey) => {
    const key = fullKey.slice(project.length + 1);
    const message = isKnown(key)
      ? (foreignKey(key, system, project) ?? wronglyKept(key, fullKey, keys.isSecret(fullKey)))
      : unknownKey(key, project);
    return issueAt([key], message);
  });
  return [...own, ...all.flatMap((key) => namespaceIssues(key, project))];
}

/** Reports a namespace that looks like a typo of the project's: Pulumi accepts it, but the key would not be read. */
function namespaceIssues(fullKey: string, project: string): ValidationIssue[] {
  const [namespace = "", key = ""] = fullKey.split(/:(.*)/s);
  if (namespace === project || nearest(namespace.trim(), [project]) === undefined) return [];
  const meant = quoted(`${project}:${key}`);
  return issueAt(
    [fullKey],
    `is not read, since the namespace is not ${quoted(project)}; did you mean ${meant}?`,
  );
}

const isKnown = (key: string): key is KeyName => Object.hasOwn(CONFIGURATION_KEYS, key);

function unknownKey(key: string, project: string): string {
  const known = Object.keys(CONFIGURATION_KEYS);
  const inCluster = nearest(key, known) === undefined && Object.hasOwn(ClusterInput.shape, key);
  return inCluster ? `is not known here; write it under ${project}:cluster` : unknownWord(key, known);
}

function foreignKey(key: KeyName, system: System | undefined, project: string): string | undefined {
  const { systems = SYSTEMS }: ConfigurationKey = CONFIGURATION_KEYS[key];
  if (system === undefined || systems.includes(system)) return undefined;
  const [first = "", ...others] = systems;
  if (others.length === 0)
    return `belongs to the system "${first}"; remove it, or write ${project}:system: ${first}`;
  const named = systems.map((one) => `"${one}"`).join(", ");
  return `belongs to the systems ${named}; remove it, or write one of them as ${project}:system`;
}

function wronglyKept(key: KeyName, fullKey: string, isEncrypted: boolean): string | undefined {
  const { secret } = CONFIGURATION_KEYS[key];
  if (secret === isEncrypted) return undefined;
  return secret
    ? `is not encrypted; set it with: pulumi config set --secret ${fullKey}`
    : "is encrypted, but it is shown in previews; write it in plain, and secrets in the keys made for them";
}
