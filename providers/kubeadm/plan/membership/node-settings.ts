import {
  CONTROL_PLANE_LABEL,
  CONTROL_PLANE_LABELS,
  CONTROL_PLANE_TAINT,
  type Machine,
  type Taint,
} from "../machine";
import type { ObservedNode } from "./observed-node";

/** The label by which foresail recognizes the Nodes of a group. */
export const GROUP_LABEL = "foresail/group";

/** A merge patch of labels: null removes a label. */
export type LabelChanges = Record<string, string | null>;

/** Returns the labels that foresail keeps on a machine's Node. */
export function wantedLabels(machine: Machine): Record<string, string> {
  const role = machine.role === "worker" ? `node-role.kubernetes.io/${machine.group}` : CONTROL_PLANE_LABEL;
  return { [role]: "", ...machine.labels, [GROUP_LABEL]: machine.group };
}

/**
 * Returns whether the Node of a control plane lost its role: kubeadm sets the label and the taint at the join, and a
 * Node that is deleted comes back without both. A taint that an administrator removed alone is not restored.
 */
export function hasLostRole(machine: Machine, node: ObservedNode): boolean {
  return machine.role === "control-plane" && !(CONTROL_PLANE_LABEL in node.labels);
}

/** Returns the labels that kubeadm sets on a control plane. */
export function roleLabels(): Record<string, string> {
  return Object.fromEntries(CONTROL_PLANE_LABELS.map((label) => [label, ""]));
}

/** Returns the labels to set and to remove, or undefined when there are none. */
export function labelChanges(machine: Machine, node: ObservedNode): LabelChanges | undefined {
  const wanted = wantedLabels(machine);
  const changes: LabelChanges = hasLostRole(machine, node) ? roleLabels() : {};
  for (const [key, value] of Object.entries(wanted)) if (node.labels[key] !== value) changes[key] = value;
  for (const key of node.ownedLabels) if (!(key in wanted) && key in node.labels) changes[key] = null;
  return Object.keys(changes).length > 0 ? changes : undefined;
}

/** Returns the identity of a taint: a Node has at most one taint of each key and effect. */
export function taintId({ key, effect }: Pick<Taint, "key" | "effect">): string {
  return `${key}:${effect}`;
}

function sameTaint(one: Taint, other: Taint): boolean {
  return one.key === other.key && one.effect === other.effect && (one.value ?? "") === (other.value ?? "");
}

/**
 * Returns the complete list of taints that the Node should have, or undefined when it has them already. Keeps taints of
 * other writers (not-ready, unreachable, the control plane's), and drops earlier taints of foresail that are no longer
 * configured.
 */
export function taintChanges(machine: Machine, node: ObservedNode): Taint[] | undefined {
  const wanted = hasLostRole(machine, node) ? [CONTROL_PLANE_TAINT, ...machine.taints] : machine.taints;
  const known = [...wanted.map(taintId), ...node.ownedTaints];
  const others = node.taints.filter((taint) => !known.includes(taintId(taint)));
  const result = [...others, ...wanted];
  const same =
    result.length === node.taints.length &&
    result.every((taint) => node.taints.some((have) => sameTaint(have, taint)));
  return same ? undefined : result;
}

/** Returns the taints that a Node gets and those that it loses; a new value of a taint does not count as a loss. */
export function taintDifference(
  before: readonly Taint[],
  after: readonly Taint[],
): { set: Taint[]; removed: Taint[] } {
  return {
    set: after.filter((taint) => !before.some((have) => sameTaint(have, taint))),
    removed: before.filter((taint) => !after.some((kept) => taintId(kept) === taintId(taint))),
  };
}
