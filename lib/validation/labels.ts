import { quoted } from "../text/quote";
import { dnsNameIssue, pattern } from "./names";
import { issueAt, type ValidationIssue } from "./validation-issue";

const NAME = /^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/;

/** Returns the issue of a label or taint key, or undefined (syntax: kubernetes.io "Labels and Selectors"). */
export function qualifiedNameIssue(key: string): string | undefined {
  const parts = key.split("/");
  const name = parts.at(-1) ?? "";
  if (parts.length > 2 || (parts.length === 2 && dnsNameIssue(parts[0] ?? "") !== undefined)) {
    return `${quoted(key)} is not a key of Kubernetes; write "name" or "dns.name/name"`;
  }
  if (name.length > 63 || !NAME.test(name)) {
    return `${quoted(key)} is not a key of Kubernetes; its name has at most 63 letters, digits, dashes, dots and underscores, with a letter or digit at both ends`;
  }
  return undefined;
}

/** Returns the issue of a label or taint value, or undefined. It may be empty. */
export function labelValueIssue(value: string): string | undefined {
  if (value === "" || (value.length <= 63 && NAME.test(value))) return undefined;
  return `${quoted(value)} is not a value of Kubernetes; write at most 63 letters, digits, dashes, dots and underscores, with a letter or digit at both ends`;
}

/**
 * Returns the original text of a date that was written without quotes: Pulumi passes 2026-11-22 as "2026-11-22 00:00:00
 * +0000 UTC". Returns any other text unchanged.
 */
export function writtenDate(text: string): string {
  const match = /^(\d{4}-\d{2}-\d{2}) (\d{2}:\d{2}:\d{2}(?:\.\d+)?) ([+-]\d{4}) \S+$/.exec(text);
  if (!match) return text;
  const [, day = "", time = "", zone = ""] = match;
  if (time === "00:00:00" && zone === "+0000") return day;
  return `${day}T${time}${zone === "+0000" ? "Z" : zone}`;
}

/** Returns the issue of the apiVersion of a kind that a controller defines, or undefined. */
export function apiVersionIssue(text: string): string | undefined {
  const [group = "", version, ...more] = text.split("/");
  const isWhole = version !== undefined && more.length === 0 && /^v\d+((alpha|beta)\d+)?$/.test(version);
  return isWhole && dnsNameIssue(group) === undefined && group.includes(".")
    ? undefined
    : `${quoted(text)} is not an apiVersion; write GROUP/VERSION, e.g. "infrastructure.cluster.x-k8s.io/v1beta1"`;
}

/** Returns the issue of an object's kind, or undefined. */
export const kindIssue = pattern(
  /^[A-Z][A-Za-z0-9]{0,62}$/,
  'a kind; write it as its definition has it, e.g. "AWSMachinePool"',
);

/** Prefix of the ownership annotations, which only the program writes. */
const OWN = "foresail/";

/** Returns the issues of the keys of a map of labels or annotations. */
export function annotationsIssues(pairs: Readonly<Record<string, string>>): ValidationIssue[] {
  return Object.keys(pairs).flatMap((key) =>
    issueAt([key], key.startsWith(OWN) ? "is written by foresail alone; remove it" : qualifiedNameIssue(key)),
  );
}

/** Returns the issues of a map of labels. */
export function labelsIssues(pairs: Readonly<Record<string, string>>): ValidationIssue[] {
  const values = Object.entries(pairs).flatMap(([key, value]) => issueAt([key], labelValueIssue(value)));
  return [...annotationsIssues(pairs), ...values];
}
