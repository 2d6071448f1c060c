import { parse } from "yaml";
import { isObject } from "../json";

/**
 * Returns the issue of a kubeconfig that has not exactly one context, or undefined; several would be treated as API
 * servers of one cluster. The message contains nothing of the kubeconfig.
 */
export function kubeconfigIssue(text: string): string | undefined {
  let read: unknown;
  try {
    read = parse(text, { logLevel: "error" });
  } catch {
    return "is not YAML";
  }
  const contexts = isObject(read) && Array.isArray(read.contexts) ? read.contexts.length : 0;
  if (contexts === 1) return undefined;
  return contexts === 0
    ? "is not a kubeconfig"
    : `has ${contexts} contexts, write out one with: kubectl config view --minify --flatten`;
}
