import { parse } from "yaml";
import type { ValidationIssue } from "../../lib/validation/validation-issue";
import { registryHostIssue } from "../../providers/kubeadm/plan/validation/source";
import { unknownWord } from "../../lib/validation/spelling";
import { readSshKey } from "./private-key";
import { isObject } from "./rule";

/** Credentials of one image registry. */
export interface RegistryCredential {
  username: string;
  password: string;
}

/** Value and validation issues of a secret key. Messages never contain any part of a secret. */
export interface SecretReading<Value> {
  value: Value;
  mistakes: ValidationIssue[];
}

/** Reads `foresail:sshPrivateKey`. */
export function readPrivateKey(raw: string): SecretReading<string> {
  const message = readSshKey(raw).issue;
  return { value: raw, mistakes: message === undefined ? [] : [{ path: ["sshPrivateKey"], message }] };
}

/** Name of the jump host's key in `foresail:sshPrivateKeys`; it is not a valid name of a machine. */
export const JUMP_HOST_KEY = "jumpHost";

/**
 * Reads `foresail:sshPrivateKeys`, a map of machine names to keys. The jump host's key has the name "jumpHost".
 *
 * @param machines names of the machines; undefined if they could not be read, and names are then not checked
 */
export function readPrivateKeys(
  raw: unknown,
  machines: readonly string[] | undefined,
): SecretReading<Record<string, string>> {
  const root = "sshPrivateKeys";
  const value: Record<string, string> = {};
  if (!isObject(raw))
    return { value, mistakes: [{ path: [root], message: "must be a map of machine names to keys" }] };
  const issues = Object.entries(raw).flatMap(([name, key]): ValidationIssue[] => {
    const path = [root, name];
    if (machines && name !== JUMP_HOST_KEY && !machines.includes(name)) {
      return [
        { path, message: unknownWord(name, machines).replace("is not known", "is the key of no machine") },
      ];
    }
    const message = typeof key === "string" ? readSshKey(key).issue : "must be a text: the private key";
    if (message !== undefined) return [{ path, message }];
    value[name] = String(key);
    return [];
  });
  return { value, mistakes: issues };
}

/** Reads a kubeconfig with one context; several contexts would be treated as API servers of one cluster. */
export function readKubeconfig(key: string, raw: string | undefined): SecretReading<string> {
  const fix = `set it with: pulumi config set --secret foresail:${key} < FILE`;
  const wrong = (message: string) => ({
    value: "",
    mistakes: [{ path: [key], message: `${message}; ${fix}` }],
  });
  if (raw === undefined) return wrong("is missing");
  let read: unknown;
  try {
    read = parse(raw);
  } catch {
    return wrong("is not YAML");
  }
  const contexts = isObject(read) && Array.isArray(read.contexts) ? read.contexts.length : 0;
  if (contexts === 1) return { value: raw, mistakes: [] };
  return wrong(
    contexts === 0
      ? "is not a kubeconfig"
      : `has ${contexts} contexts, write out one with: kubectl config view --minify --flatten`,
  );
}

/** An OpenStack application credential. */
export interface ApplicationCredential {
  id: string;
  secret: string;
}

/** Credentials for a CB-Tumblebug server. */
export interface TumblebugCredentials {
  username: string;
  password: string;
}

/** Reads `foresail:tumblebugCredentials`. */
export function readTumblebugCredentials(raw: unknown): SecretReading<TumblebugCredentials> {
  return readTexts("tumblebugCredentials", { username: "", password: "" }, raw);
}

/** Reads `foresail:cloudApplicationCredential`. */
export function readApplicationCredential(raw: unknown): SecretReading<ApplicationCredential> {
  return readTexts("cloudApplicationCredential", { id: "", secret: "" }, raw);
}

/** Reads a secret object with string fields. @param empty the object with its fields, all "" */
function readTexts<Value extends object>(root: string, empty: Value, raw: unknown): SecretReading<Value> {
  const value: Value = { ...empty };
  const fields = Object.keys(value) as (keyof Value & string)[];
  if (!isObject(raw))
    return { value, mistakes: [{ path: [root], message: `must be {${fields.join(", ")}}` }] };
  const issues = fields.flatMap((field): ValidationIssue[] => {
    const text = raw[field];
    if (typeof text !== "string" || text === "")
      return [{ path: [root, field], message: "is missing; write a text, in quotes" }];
    value[field] = text as Value[typeof field];
    return [];
  });
  const unknown = Object.keys(raw).filter((key) => !fields.some((field) => field === key));
  return {
    value,
    mistakes: [
      ...issues,
      ...unknown.map((key) => ({ path: [root, key], message: unknownWord(key, fields) })),
    ],
  };
}

/** Reads `foresail:registryCredentials`, a map of registry hosts to user name and password. */
export function readRegistryCredentials(raw: unknown): SecretReading<Record<string, RegistryCredential>> {
  const root = "registryCredentials";
  const value: Record<string, RegistryCredential> = {};
  if (!isObject(raw)) {
    return {
      value,
      mistakes: [{ path: [root], message: "must be a map of registry hosts to {username, password}" }],
    };
  }
  const issues = Object.entries(raw).flatMap(([host, credential]): ValidationIssue[] => {
    const found = credentialIssues(host, credential);
    if (found.length === 0) value[host] = credential as RegistryCredential;
    return found.map(({ path, message }) => ({ path: [root, host, ...path], message }));
  });
  return { value, mistakes: issues };
}

function credentialIssues(host: string, credential: unknown): ValidationIssue[] {
  const wrongHost = registryHostIssue(host);
  const issues: ValidationIssue[] = wrongHost === undefined ? [] : [{ path: [], message: wrongHost }];
  if (!isObject(credential)) return [...issues, { path: [], message: "must be {username, password}" }];
  const fields = ["username", "password"];
  for (const field of fields) {
    if (credential[field] === undefined) issues.push({ path: [field], message: "is missing; write a text" });
    else if (typeof credential[field] !== "string" || credential[field] === "") {
      issues.push({ path: [field], message: "must be a text that is not empty; put it in quotes" });
    }
  }
  const unknown = Object.keys(credential).filter((key) => !fields.includes(key));
  return [...issues, ...unknown.map((key) => ({ path: [key], message: unknownWord(key, fields) }))];
}
