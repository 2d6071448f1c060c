import { privateKeyIssue } from "../../lib/validation/keys";
import { kubeconfigIssue } from "../../lib/validation/kubeconfigs";
import { unknownWord } from "../../lib/validation/spelling";
import { below, issueAt, type ValidationIssue } from "../../lib/validation/validation-issue";
import { proxyCredentialsIssue } from "../../providers/kubeadm/plan/validation/settings";
import { registryHostIssue } from "../../providers/kubeadm/plan/validation/source";
import type { Reading } from "../../lib/validation/check";
import type { KeyName } from "./keys";
import { isObject } from "../../lib/json";

/** Credentials of one image registry, or of a proxy. */
export type RegistryCredential = Record<"username" | "password", string>;

/** Name of the jump host's key in `foresail:sshPrivateKeys`; it is not a valid name of a machine. */
export const JUMP_HOST_KEY = "jumpHost";

/**
 * Reads the value of a secret key; paths of issues are relative to the key.
 *
 * @param machines names of the machines; undefined if they could not be read, and names are then not checked
 * @param cluster the key `foresail:cluster` as written
 */
type SecretReader = (raw: unknown, machines?: readonly string[], cluster?: unknown) => Reading<unknown>;

/** Readers of the secret keys. */
export const SECRETS = {
  sshPrivateKey: (raw) => readText(raw, (text) => readSshKey(text).issue),
  sshPrivateKeys: (raw = {}, machines) =>
    readMap(raw, "machine names to keys", (name, key) => {
      if (machines && name !== JUMP_HOST_KEY && !machines.includes(name))
        return issueAt([], unknownWord(name, machines, "is the key of no machine"));
      return issueAt([], typeof key === "string" ? readSshKey(key).issue : "must be a text: the private key");
    }),
  registryCredentials: (raw = {}) =>
    readMap(raw, "registry hosts to {username, password}", (host, credential) => [
      ...issueAt([], registryHostIssue(host)),
      ...textIssues(["username", "password"], credential),
    ]),
  proxyCredentials: (raw, _machines, cluster) => {
    const issues = textIssues(["username", "password"], raw);
    const { proxy } = isObject(cluster) ? (cluster as { proxy?: { http?: string; https?: string } }) : {};
    const issueOf = () =>
      proxyCredentialsIssue(raw as RegistryCredential, isObject(proxy) ? proxy : undefined);
    return { value: raw, issues: issues.length > 0 ? issues : issueAt([], issueOf()) };
  },
  cloudApplicationCredential: (raw) => ({ value: raw, issues: textIssues(["id", "secret"], raw) }),
  tumblebugCredentials: (raw) => ({ value: raw, issues: textIssues(["username", "password"], raw) }),
  managementKubeconfig: readKubeconfig("managementKubeconfig"),
  workloadKubeconfig: readKubeconfig("workloadKubeconfig"),
} satisfies Partial<Record<KeyName, SecretReader>>;

function readText(raw: unknown, issueOf: (text: string) => string | undefined): Reading<string> {
  const value = String(raw);
  return { value, issues: issueAt([], issueOf(value)) };
}

function readMap(
  raw: unknown,
  content: string,
  issuesOf: (name: string, value: unknown) => ValidationIssue[],
): Reading<unknown> {
  if (!isObject(raw)) return { value: undefined, issues: issueAt([], `must be a map of ${content}`) };
  return {
    value: raw,
    issues: Object.entries(raw).flatMap(([name, value]) => below([name], issuesOf(name, value))),
  };
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

/** Returns the reader of a kubeconfig with one context; several would be treated as API servers of one cluster. */
function readKubeconfig(key: KeyName): SecretReader {
  return (raw) =>
    readText(raw, (text) => {
      const issue = raw === undefined ? "is missing" : kubeconfigIssue(text);
      return issue && `${issue}; set it with: pulumi config set --secret foresail:${key} < FILE`;
    });
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
