import { labelValueIssue, qualifiedNameIssue } from "./labels";
import type { ValidationIssue } from "./validation-issue";
import { dnsNameIssue } from "./names";
import { quoted } from "../text/quote";

/** What is wrong with the apiVersion of a kind that a controller defines, or undefined. */
export function apiVersionIssue(text: string): string | undefined {
  const [group = "", version, ...more] = text.split("/");
  const isWhole = version !== undefined && more.length === 0 && /^v\d+((alpha|beta)\d+)?$/.test(version);
  return isWhole && dnsNameIssue(group) === undefined && group.includes(".")
    ? undefined
    : `${quoted(text)} is not an apiVersion; write GROUP/VERSION, e.g. "infrastructure.cluster.x-k8s.io/v1beta1"`;
}

/** What is wrong with the kind of an object, or undefined. */
export function kindIssue(text: string): string | undefined {
  return /^[A-Z][A-Za-z0-9]{0,62}$/.test(text)
    ? undefined
    : `${quoted(text)} is not a kind; write it as its definition has it, e.g. "AWSMachinePool"`;
}

/** Annotations that say whose an object is; only the program writes them. */
const OWN = "foresail/";

/** What is wrong with the keys of a map of labels or annotations. */
export function annotationsIssues(pairs: Readonly<Record<string, string>>): ValidationIssue[] {
  return Object.keys(pairs).flatMap((key): ValidationIssue[] => {
    if (key.startsWith(OWN)) return [{ path: [key], message: "is written by foresail alone; remove it" }];
    const message = qualifiedNameIssue(key);
    return message === undefined ? [] : [{ path: [key], message }];
  });
}

/** What is wrong with a map of labels. */
export function labelsIssues(pairs: Readonly<Record<string, string>>): ValidationIssue[] {
  const values = Object.entries(pairs).flatMap(([key, value]): ValidationIssue[] => {
    const message = labelValueIssue(value);
    return message === undefined ? [] : [{ path: [key], message }];
  });
  return [...annotationsIssues(pairs), ...values];
}
