import { issueAt, type ValidationIssue } from "../../lib/validation/validation-issue";
import { quoted } from "../../lib/text/quote";
import { nearest, unknownWord } from "../../lib/validation/spelling";
import { ClusterInput } from "./cluster";
import { CONFIGURATION_KEYS, type ConfigurationKey, type KeyName, SYSTEMS, type System } from "./keys";

/** Keys of a stack file. */
export interface StackKeys {
  project: string;
  values: Readonly<Record<string, string>>;
  /** Whether a full key, "foresail:sshPrivateKey", is encrypted. */
  isSecret(key: string): boolean;
}

/** Returns issues of keys that are unknown, belong to another system, or are wrongly encrypted or not encrypted. */
export function keyIssues(keys: StackKeys, system: System | undefined): ValidationIssue[] {
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
