import { valueAt } from "../../../../lib/validation/validation-issue";
import {
  CONTROL_PLANE_LABEL,
  CONTROL_PLANE_LABELS,
  CONTROL_PLANE_TAINT,
  controlPlanesOf,
} from "../cluster/machine";
import type { Machine, Taint } from "../cluster/machine";
import type { ClusterSpecification } from "../cluster/specification";

/** A Node of the cluster, with the fields that membership needs. */
export interface ObservedNode {
  name: string;
  uid?: string;
  /**
   * The group in its label, which foresail sets at the end of a join; undefined without the label. A kubelet may write
   * any group to its own Node, so the state and the configuration decide which machines belong to a group.
   */
  group?: string;
  /** Whether it has the role's label, which a kubelet can't write. */
  controlPlane: boolean;
  ready: boolean;
  /** Reason and message of the Ready condition, when it is not true. */
  reason?: string;
  version: string;
  internalAddress: string;
  labels: Record<string, string>;
  taints: Taint[];
  /** Label keys that the stack set earlier, from its state; empty until `withOwnership` fills them in. */
  ownedLabels: string[];
  /** Taints that the stack set earlier, as formatted by `taintId`. */
  ownedTaints: string[];
  unschedulable: boolean;
  /** A removal of it has begun: whether it had cordoned the node, or others had before. */
  removal?: Removal;
}

/** Returns the Node of the first control plane as kubeadm init makes it: it is in no group yet. */
export const initializedNode = (name: string): ObservedNode => ({
  name,
  controlPlane: true,
  ready: true,
  version: "",
  internalAddress: "",
  unschedulable: false,
  labels: {},
  taints: [],
  ownedLabels: [],
  ownedTaints: [],
});

/** Set on a Node before its removal drains it, so that a run which keeps the machine uncordons it. */
export const REMOVAL = "foresail/removal";
const REMOVALS = ["cordoned", "was-cordoned"] as const;
/** Values of the annotation: the removal cordoned the node, or others had done so before. */
export type Removal = (typeof REMOVALS)[number];

/** Parses the annotation of a Node; undefined when no removal of it has begun. */
export const removalIn = (annotations: Readonly<Record<string, string>> | undefined): Removal | undefined =>
  REMOVALS.find((removal) => removal === annotations?.[REMOVAL]);

/** The label that foresail sets on a Node when it has joined a group. */
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

/** Returns whether a configuration of kubeadm has an empty list of taints, which stands for a control plane that runs pods. */
export function isUntainted(user: object = {}): boolean {
  const taints = valueAt(user, ["nodeRegistration", "taints"]);
  return Array.isArray(taints) && taints.length === 0;
}

/**
 * Returns the names of the control planes that have no taint of their role, by the configuration: the first one is that
 * of `kubeadm init`.
 */
export function untaintedMachines(
  { kubeadm = {} }: Partial<Pick<ClusterSpecification, "kubeadm">>,
  machines: readonly Pick<Machine, "name" | "role">[],
): string[] {
  const { initConfiguration, joinConfiguration } = kubeadm;
  return controlPlanesOf(machines)
    .filter((_, index) => isUntainted(index === 0 ? initConfiguration : joinConfiguration))
    .map(({ name }) => name);
}

/** Returns the labels to set and to remove, or undefined when there are none. */
export function labelChanges(machine: Machine, node: ObservedNode): LabelChanges | undefined {
  const wanted = wantedLabels(machine);
  const changes: LabelChanges = hasLostRole(machine, node) ? { ...CONTROL_PLANE_LABELS } : {};
  for (const [key, value] of Object.entries(wanted)) if (node.labels[key] !== value) changes[key] = value;
  for (const key of node.ownedLabels) if (!(key in wanted) && key in node.labels) changes[key] = null;
  return Object.keys(changes).length > 0 ? changes : undefined;
}

/** Returns the identity of a taint: a Node has at most one taint of each key and effect. */
export const taintId = ({ key, effect }: Pick<Taint, "key" | "effect">): string => `${key}:${effect}`;

/** Returns whether a list has a taint with this key, effect and value. */
const hasTaint = (taints: readonly Taint[], { value = "", ...taint }: Taint) =>
  taints.some((have) => taintId(have) === taintId(taint) && (have.value ?? "") === value);

/**
 * Returns the complete list of taints that the Node should have, or undefined when it has them already. Keeps taints of
 * other writers (not-ready, unreachable, the control plane's), and drops earlier taints of foresail that are no longer
 * configured.
 *
 * @param untainted names of control planes without the taint of their role
 */
export function taintChanges(
  machine: Machine,
  node: ObservedNode,
  untainted: readonly string[] = [],
): Taint[] | undefined {
  const isTainted = hasLostRole(machine, node) && !untainted.includes(machine.name);
  const wanted = isTainted ? [CONTROL_PLANE_TAINT, ...machine.taints] : machine.taints;
  const known = [...wanted.map(taintId), ...node.ownedTaints];
  const others = node.taints.filter((taint) => !known.includes(taintId(taint)));
  const result = [...others, ...wanted];
  const isSame =
    result.length === node.taints.length && result.every((taint) => hasTaint(node.taints, taint));
  return isSame ? undefined : result;
}

/** Returns the taints that a Node gets and those that it loses; a new value of a taint does not count as a loss. */
export function taintDifference(
  before: readonly Taint[],
  after: readonly Taint[],
): { set: Taint[]; removed: Taint[] } {
  const kept = after.map(taintId);
  return {
    set: after.filter((taint) => !hasTaint(before, taint)),
    removed: before.filter((taint) => !kept.includes(taintId(taint))),
  };
}

/**
 * The labels and taints that the stack set on each machine's Node, so that it removes only its own. They are kept in
 * state, since a kubelet may write to its own Node, so the Node itself can't prove who set what.
 */
export type OwnedKeys = Record<string, { labels: string[]; taints: string[] }>;

function ownershipOf(machine: Machine): OwnedKeys[string] {
  return { labels: Object.keys(wantedLabels(machine)), taints: machine.taints.map(taintId) };
}

/** Returns what the stack has set until now. State of older releases has only the machines, with labels and taints. */
export function recordedOwnership(olds: { owned?: OwnedKeys; machines?: Machine[] }): OwnedKeys {
  if (olds.owned) return olds.owned;
  return Object.fromEntries((olds.machines ?? []).map((machine) => [machine.name, ownershipOf(machine)]));
}

/**
 * Returns what the stack has set after a run: its earlier labels and taints that are still on the Nodes, and those that
 * it sets now. So the next run removes what a failed run could not remove.
 *
 * @param observed the cluster's Nodes, or undefined when they could not be read: then everything counts as still there
 */
export function ownershipAfter(
  before: OwnedKeys,
  desired: readonly Machine[],
  observed: readonly ObservedNode[] | undefined,
): OwnedKeys {
  const merged = (now: string[], earlier: string[] = [], present: string[]) => {
    const left = earlier.filter((id) => observed === undefined || present.includes(id));
    return [...new Set([...now, ...left])].sort();
  };
  return Object.fromEntries(
    desired.map((machine) => {
      const { labels, taints } = ownershipOf(machine);
      const earlier = before[machine.name];
      const node = observed?.find(({ name }) => name === machine.name);
      return [
        machine.name,
        {
          labels: merged(labels, earlier?.labels, Object.keys(node?.labels ?? {})),
          taints: merged(taints, earlier?.taints, (node?.taints ?? []).map(taintId)),
        },
      ];
    }),
  );
}

/** Returns the Nodes with the labels and taints that the stack set on them. */
export function withOwnership<Node extends ObservedNode>(nodes: readonly Node[], owned: OwnedKeys): Node[] {
  return nodes.map((node) => ({
    ...node,
    ownedLabels: owned[node.name]?.labels ?? [],
    ownedTaints: owned[node.name]?.taints ?? [],
  }));
}

/**
 * Returns the machines that were configured once and no longer are. The `up` that should have removed them may have
 * failed, so destroy still has to check each for something to reset.
 *
 * @param before the machines that were configured until now, and those that were removed from the configuration earlier
 */
export function formerMachines(
  before: { machines: readonly Machine[]; former?: readonly Machine[] },
  configured: readonly Machine[],
): Machine[] {
  const all = [...(before.former ?? []), ...before.machines];
  const known = new Map(all.map((machine) => [machine.name, machine]));
  for (const { name } of configured) known.delete(name);
  return [...known.values()];
}

/** A pod of the cluster's DNS, in the shape of a Pod of the API. */
export interface DnsPod {
  metadata?: { name?: string; namespace?: string; uid?: string; deletionTimestamp?: string };
  spec?: { nodeName?: string };
  status?: { phase?: string };
}

/**
 * Returns the DNS pods to move. kubeadm starts all of them on the first control plane; if they stayed there, names
 * could not be resolved for minutes after that machine dies. One pod stays, so that names can be resolved during the
 * move.
 *
 * @param nodes names of the nodes that could take a pod
 */
export function dnsPodsToMove<P extends DnsPod>(pods: readonly P[], nodes: readonly string[]): P[] {
  const running = pods.filter(
    ({ metadata, status }) => !metadata?.deletionTimestamp && status?.phase === "Running",
  );
  const [first, ...others] = [...running].sort((one, other) =>
    (one.metadata?.name ?? "").localeCompare(other.metadata?.name ?? "", "en"),
  );
  const home = first?.spec?.nodeName;
  const isSpread = others.some(({ spec }) => spec?.nodeName !== home);
  return isSpread || !nodes.some((node) => node !== home) ? [] : others;
}
