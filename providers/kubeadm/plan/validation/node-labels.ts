import { quoted } from "../../../../lib/text/quote";
import { duplicateIssues } from "../../../../lib/validation/duplicates";
import { qualifiedNameIssue } from "../../../../lib/validation/labels";
import type { ValidationIssue } from "../../../../lib/validation/validation-issue";
import { CONTROL_PLANE_TAINT, type Role } from "../machine";

/**
 * Returns an issue for each taint that a list repeats, or that a control plane has by default: kubeadm refuses to
 * register a Node that has a taint twice.
 */
export function taintIssues(
  taints: readonly { key?: unknown; effect?: unknown }[],
  role: Role | undefined,
): ValidationIssue[] {
  const name = ({ key, effect }: { key?: unknown; effect?: unknown }) => `${String(key)}:${String(effect)}`;
  const own = name(CONTROL_PLANE_TAINT);
  const repeated = taints.flatMap((taint, index): ValidationIssue[] =>
    role === "control-plane" && name(taint) === own
      ? [{ path: [index], message: `${quoted(own)} is set on every control plane by foresail; remove it` }]
      : [],
  );
  return [...repeated, ...duplicateIssues(taints, name)];
}

/** Labels that kubeadm derives from the role, and labels that each kubelet sets itself. */
const ROLE_LABELS = ["node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master"];
const KUBELET_LABELS = [
  "kubernetes.io/hostname",
  "kubernetes.io/os",
  "kubernetes.io/arch",
  "beta.kubernetes.io/os",
  "beta.kubernetes.io/arch",
];
/** Prefixes inside kubernetes.io that administrators may use (kubernetes.io "Well-Known Labels"). */
const OPEN_PREFIXES = [
  "node-role.kubernetes.io",
  "topology.kubernetes.io",
  "node.kubernetes.io",
  "node-restriction.kubernetes.io",
  "kubelet.kubernetes.io",
];

function reservedPrefix(key: string): boolean {
  const prefix = key.includes("/") ? (key.split("/")[0] ?? "") : "";
  const ofKubernetes = /(^|\.)(kubernetes|k8s)\.io$/.test(prefix);
  return ofKubernetes && !OPEN_PREFIXES.some((open) => prefix === open || prefix.endsWith(`.${open}`));
}

/** Returns what is wrong with the key of a Node label, or undefined. */
export function nodeLabelKeyIssue(key: string): string | undefined {
  const wrong = qualifiedNameIssue(key);
  if (wrong) return wrong;
  if (ROLE_LABELS.includes(key)) return `${quoted(key)} follows from the role; remove it`;
  if (KUBELET_LABELS.includes(key)) return `${quoted(key)} is reported by the kubelet itself; remove it`;
  if (reservedPrefix(key))
    return `${quoted(key)} is reserved for Kubernetes itself; use a prefix of your own, e.g. "example.com/name"`;
  return undefined;
}

/** Returns what is wrong with the key of a taint, or undefined. */
export function taintKeyIssue(key: string): string | undefined {
  const wrong = qualifiedNameIssue(key);
  if (wrong) return wrong;
  const ofKubernetes = /^node(\.cloudprovider)?\.kubernetes\.io\//.test(key);
  return ofKubernetes
    ? `${quoted(key)} is set and removed by Kubernetes itself; use a key of your own`
    : undefined;
}
