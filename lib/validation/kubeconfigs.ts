import { messageOf } from "../error-message";
import { isObject } from "../json";
import { ownKubeconfigIssue } from "../kubernetes/own-kubeconfig";
import { readYaml } from "../yaml";

/**
 * Returns the issue of a kubeconfig that has not exactly one context, or undefined; several would be treated as API
 * servers of one cluster. The message contains nothing of the kubeconfig.
 */
export function kubeconfigIssue(text: string): string | undefined {
  let read: unknown;
  try {
    read = readYaml(text);
  } catch (error) {
    return messageOf(error);
  }
  const contexts = isObject(read) && Array.isArray(read.contexts) ? read.contexts.length : 0;
  if (contexts === 1) return ownKubeconfigIssue(text);
  return contexts === 0
    ? "is not a kubeconfig"
    : `has ${contexts} contexts, write out one with: kubectl config view --minify --flatten`;
}
