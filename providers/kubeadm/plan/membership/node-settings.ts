import {
  CONTROL_PLANE_LABEL,
  CONTROL_PLANE_LABELS,
  CONTROL_PLANE_TAINT,
  type Machine,
  type Taint,
} from "../machine";
import type { ObservedNode } from "./observed-node";

/** The label by which foresail finds the Nodes of a group again. */
export const GROUP_LABEL = "foresail/group";

/** A merge patch of labels: null takes a label away. */
export type LabelChanges = Record<string, string | null>;

/** The labels that foresail keeps on the Node of a machine. */
export function wantedLabels(machine: Machine): Record<string, string> {
  const role = machine.role === "worker" ? `node-role.kubernetes.io/${machine.group}` : CONTROL_PLANE_LABEL;
  return { [role]: "", ...machine.labels, [GROUP_LABEL]: machine.group };
}

/**
 * Whether the Node of a control plane lost its role: kubeadm gave it label and taint at the join, and a Node that was
 * deleted comes back without either. An administrator who took only the taint away keeps that.
 */
export function hasLostRole(machine: Machine, node: ObservedNode): boolean {
  return machine.role === "control-plane" && !(CONTROL_PLANE_LABEL in node.labels);
}

/** The labels that kubeadm gives a control plane. */
export function roleLabels(): Record<string, string> {
  return Object.fromEntries(CONTROL_PLANE_LABELS.map((label) => [label, ""]));
}

/** The labels to set and to take back, or undefined when the Node has them right. */
export function labelChanges(machine: Machine, node: ObservedNode): LabelChanges | undefined {
  const wanted = wantedLabels(machine);
  const changes: LabelChanges = hasLostRole(machine, node) ? roleLabels() : {};
  for (const [key, value] of Object.entries(wanted)) if (node.labels[key] !== value) changes[key] = value;
  for (const key of node.ownedLabels) if (!(key in wanted) && key in node.labels) changes[key] = null;
  return Object.keys(changes).length > 0 ? changes : undefined;
}

/** What names a taint: a Node has one of each key and effect. */
export function taintId({ key, effect }: Pick<Taint, "key" | "effect">): string {
  return `${key}:${effect}`;
}

function sameTaint(one: Taint, other: Taint): boolean {
  return one.key === other.key && one.effect === other.effect && (one.value ?? "") === (other.value ?? "");
}

/**
 * The whole list of taints that the Node should have, or undefined when it is right: other writers' taints
 * (not-ready, unreachable, the control plane's) stay, foresail's earlier ones that are no longer wanted go.
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

/** Which taints a Node gets and which it loses; another value of a taint is not a loss. */
export function taintDifference(
  before: readonly Taint[],
  after: readonly Taint[],
): { set: Taint[]; removed: Taint[] } {
  return {
    set: after.filter((taint) => !before.some((have) => sameTaint(have, taint))),
    removed: before.filter((taint) => !after.some((kept) => taintId(kept) === taintId(taint))),
  };
}
