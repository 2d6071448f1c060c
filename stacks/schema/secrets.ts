import { parse } from "yaml";
import { privateKeyIssue } from "../../lib/validation/keys";
import { unknownWord } from "../../lib/validation/spelling";
import { below, issueAt, type ValidationIssue } from "../../lib/validation/validation-issue";
import { registryHostIssue } from "../../providers/kubeadm/plan/validation/source";
import type { Reading } from "./check";
import { isObject } from "../../lib/json";

/** Credentials of one image registry. */
export type RegistryCredential = Record<"username" | "password", string>;

/** Reads `foresail:sshPrivateKey`. */
export function readPrivateKey(key: string, raw: unknown): Reading<string> {
  const text = String(raw);
  return { value: text, issues: issueAt([key], readSshKey(text).issue) };
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
): Reading<Record<string, string>> {
  return readMap("sshPrivateKeys", raw, "machine names to keys", (name, key) => {
    if (machines && name !== JUMP_HOST_KEY && !machines.includes(name))
      return issueAt([], unknownWord(name, machines).replace("is not known", "is the key of no machine"));
    return issueAt([], typeof key === "string" ? readSshKey(key).issue : "must be a text: the private key");
  });
}

/** Reads `foresail:registryCredentials`, a map of registry hosts to user name and password. */
export function readRegistryCredentials(raw: unknown): Reading<Record<string, RegistryCredential>> {
  return readMap("registryCredentials", raw, "registry hosts to {username, password}", (host, credential) => [
    ...issueAt([], registryHostIssue(host)),
    ...textIssues(["username", "password"], credential),
  ]);
}

/** Reads a secret object with string fields. */
export function readFields<Field extends string>(
  key: string,
  raw: unknown,
  fields: readonly Field[],
): Reading<Record<Field, string>> {
  return { value: raw as Record<Field, string>, issues: below([key], textIssues(fields, raw)) };
}

function readMap<Value>(
  key: string,
  raw: unknown,
  content: string,
  issuesOf: (name: string, value: unknown) => ValidationIssue[],
): Reading<Record<string, Value>> {
  if (!isObject(raw)) return { value: undefined, issues: issueAt([key], `must be a map of ${content}`) };
  const issues = Object.entries(raw).flatMap(([name, value]) => below([key, name], issuesOf(name, value)));
  return { value: raw as Record<string, Value>, issues };
}

/** Returns the issues of a secret object with string fields. */
function textIssues(fields: readonly string[], raw: unknown): ValidationIssue[] {
  if (!isObject(raw)) return issueAt([], `must be {${fields.join(", ")}}`);
  const wrong = fields.filter((field) => typeof raw[field] !== "string" || raw[field] === "");
  const unknown = Object.keys(raw).filter((key) => !fields.includes(key));
  const what = (field: string) => (raw[field] === undefined ? "is missing" : "is not a text, or empty");
  return [
    ...wrong.flatMap((field) => issueAt([field], `${what(field)}; write a text, in quotes`)),
    ...unknown.flatMap((key) => issueAt([key], unknownWord(key, fields))),
  ];
}

/** Reads a kubeconfig with one context; several contexts would be treated as API servers of one cluster. */
export function readKubeconfig(key: string, raw: unknown): Reading<string> {
  const text = String(raw);
  const issue = raw === undefined ? "is missing" : kubeconfigIssue(text);
  const fix = `set it with: pulumi config set --secret foresail:${key} < FILE`;
  return { value: text, issues: issueAt([key], issue && `${issue}; ${fix}`) };
}

function kubeconfigIssue(text: string): string | undefined {
  let read: unknown;
  try {
    read = parse(text);
  } catch {
    return "is not YAML";
  }
  const contexts = isObject(read) && Array.isArray(read.contexts) ? read.contexts.length : 0;
  if (contexts === 1) return undefined;
  return contexts === 0
    ? "is not a kubeconfig"
    : `has ${contexts} contexts, write out one with: kubectl config view --minify --flatten`;
}

interface KeyReading {
  /** Public key in Base64, without padding. */
  publicHalf?: string;
  issue?: string;
}

const sshKeys = new Map<string, KeyReading>();

/**
 * Reads an SSH private key like the SSH client, and signs with it once, because a truncated key may still be parsed.
 */
export function readSshKey(text: string): KeyReading {
  const known = sshKeys.get(text) ?? parseSshKey(text);
  sshKeys.set(text, known);
  return known;
}

const UNREADABLE =
  "can't be read by the SSH client: it was cut or changed; give the whole file again, as `ssh-keygen` wrote it";

function parseSshKey(text: string): KeyReading {
  const issue = privateKeyIssue(text);
  if (issue !== undefined) return { issue };
  // Loaded here, so that a stack with keys in an SSH agent does not load the SSH client.
  // eslint-disable-next-line @typescript-eslint/no-require-imports
  const { utils } = require("ssh2") as typeof import("ssh2");
  const key = utils.parseKey(text);
  if (key instanceof Error || !key.isPrivateKey()) return { issue: UNREADABLE };
  if (key.type === "ssh-dss")
    return { issue: "is a DSA key, which SSH servers refuse; make another with: ssh-keygen -t ed25519" };
  return isWhole(key)
    ? { publicHalf: key.getPublicSSH().toString("base64").replace(/=+$/, "") }
    : { issue: UNREADABLE };
}

function isWhole(key: import("ssh2").ParsedKey): boolean {
  try {
    const data = Buffer.from("foresail");
    const signature = key.sign(data);
    return Buffer.isBuffer(signature) && key.verify(data, signature) === true;
  } catch {
    return false;
  }
}
