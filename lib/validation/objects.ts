import { labelValueIssue, qualifiedNameIssue } from "./labels";
import type { ValidationIssue } from "./validation-issue";
import { dnsNameIssue } from "./names";
import { quoted } from "../text/quote";

/** Returns the issue of the apiVersion of a kind that a controller defines, or undefined. */
export function apiVersionIssue(text: string): string | undefined {
  const [group = "", version, ...more] = text.split("/");
  const isWhole = version !== undefined && more.length === 0 && /^v\d+((alpha|beta)\d+)?$/.test(version);
  return isWhole && dnsNameIssue(group) === undefined && group.includes(".")
    ? undefined
    : `${quoted(text)} is not an apiVersion; write GROUP/VERSION, e.g. "infrastructure.cluster.x-k8s.io/v1beta1"`;
}

/** Returns the issue of an object's kind, or undefined. */
export function kindIssue(text: string): string | undefined {
  return /^[A-Z][A-Za-z0-9]{0,62}$/.test(text)
    ? undefined
    : `${quoted(text)} is not a kind; write it as its definition has it, e.g. "AWSMachinePool"`;
}

/** Prefix of the ownership annotations, which only the program writes. */
const OWN = "foresail/";

/** Returns the issues of the keys of a map of labels or annotations. */
export function annotationsIssues(pairs: Readonly<Record<string, string>>): ValidationIssue[] {
  return Object.keys(pairs).flatMap((key): ValidationIssue[] => {
    if (key.startsWith(OWN)) return [{ path: [key], message: "is written by foresail alone; remove it" }];
    const message = qualifiedNameIssue(key);
    return message === undefined ? [] : [{ path: [key], message }];
  });
}

/** Returns the issues of a map of labels. */
export function labelsIssues(pairs: Readonly<Record<string, string>>): ValidationIssue[] {
  const values = Object.entries(pairs).flatMap(([key, value]): ValidationIssue[] => {
    const message = labelValueIssue(value);
    return message === undefined ? [] : [{ path: [key], message }];
  });
  return [...annotationsIssues(pairs), ...values];
}
