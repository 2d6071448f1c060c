import { CONTROL_PLANE_TAINT, type Role } from "../../providers/kubeadm/plan/machine";
import type { Mistake } from "./mistake";
import { duplicateMistakes } from "./duplicates";
import { dnsNameMistake } from "./names";
import { quoted } from "../text/quote";

const NAME = /^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/;

/** What is wrong with the key of a label or taint, or undefined (syntax: kubernetes.io "Labels and Selectors"). */
export function qualifiedNameMistake(key: string): string | undefined {
  const parts = key.split("/");
  const name = parts.at(-1) ?? "";
  if (parts.length > 2 || (parts.length === 2 && dnsNameMistake(parts[0] ?? "") !== undefined)) {
    return `${quoted(key)} is not a key of Kubernetes; write "name" or "dns.name/name"`;
  }
  if (name.length > 63 || !NAME.test(name)) {
    return `${quoted(key)} is not a key of Kubernetes; its name has at most 63 letters, digits, dashes, dots and underscores, with a letter or digit at both ends`;
  }
  return undefined;
}

/** What is wrong with the value of a label or taint, or undefined. It may be empty. */
export function labelValueMistake(value: string): string | undefined {
  if (value === "" || (value.length <= 63 && NAME.test(value))) return undefined;
  return `${quoted(value)} is not a value of Kubernetes; write at most 63 letters, digits, dashes, dots and underscores, with a letter or digit at both ends`;
}

/**
 * The text that a person wrote as a date without quotes: Pulumi hands 2026-11-22 over as "2026-11-22 00:00:00 +0000 UTC".
 * Any other text is returned as it is.
 */
export function writtenDate(text: string): string {
  const match = /^(\d{4}-\d{2}-\d{2}) (\d{2}:\d{2}:\d{2}(?:\.\d+)?) ([+-]\d{4}) \S+$/.exec(text);
  if (!match) return text;
  const [, day = "", time = "", zone = ""] = match;
  if (time === "00:00:00" && zone === "+0000") return day;
  return `${day}T${time}${zone === "+0000" ? "Z" : zone}`;
}

/** Taints that a list repeats, or that a control plane has anyway: kubeadm refuses to register a Node with one twice. */
export function taintIssues(
  taints: readonly { key?: unknown; effect?: unknown }[],
  role: Role | undefined,
): Mistake[] {
  const name = ({ key, effect }: { key?: unknown; effect?: unknown }) => `${String(key)}:${String(effect)}`;
  const own = name(CONTROL_PLANE_TAINT);
  const repeated = taints.flatMap((taint, index): Mistake[] =>
    role === "control-plane" && name(taint) === own
      ? [{ path: [index], message: `${quoted(own)} is set on every control plane by foresail; remove it` }]
      : [],
  );
  return [...repeated, ...duplicateMistakes(taints, name)];
}

/** Labels that kubeadm sets from the role, and those that each kubelet reports of itself. */
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

/** What is wrong with the key of a Node label, or undefined. */
export function nodeLabelKeyMistake(key: string): string | undefined {
  const wrong = qualifiedNameMistake(key);
  if (wrong) return wrong;
  if (ROLE_LABELS.includes(key)) return `${quoted(key)} follows from the role; remove it`;
  if (KUBELET_LABELS.includes(key)) return `${quoted(key)} is reported by the kubelet itself; remove it`;
  if (reservedPrefix(key))
    return `${quoted(key)} is reserved for Kubernetes itself; use a prefix of your own, e.g. "example.com/name"`;
  return undefined;
}

/** What is wrong with the key of a taint, or undefined. */
export function taintKeyMistake(key: string): string | undefined {
  const wrong = qualifiedNameMistake(key);
  if (wrong) return wrong;
  const ofKubernetes = /^node(\.cloudprovider)?\.kubernetes\.io\//.test(key);
  return ofKubernetes
    ? `${quoted(key)} is set and removed by Kubernetes itself; use a key of your own`
    : undefined;
}
