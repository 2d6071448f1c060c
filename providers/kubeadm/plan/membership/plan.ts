import { CONTROL_PLANE_GROUP, type Machine, type Taint } from "../machine";
import type { NodeGroupStep } from "../steps";
import { labelChanges, taintChanges, taintDifference } from "./node-settings";
import type { ObservedNode } from "./observed-node";

export interface MembershipPlan {
  steps: NodeGroupStep[];
  /** Remarks for the reader that are not steps. */
  notes: NodeGroupStep[];
}

type Removal = Extract<NodeGroupStep, { kind: "lose" | "remove" }>;

/** Returns whether a step takes a machine out of the cluster. */
export function isRemoval(step: NodeGroupStep): step is Removal {
  return step.kind === "lose" || step.kind === "remove";
}

/** Compares names so that w-10 comes after w-9. */
export function byIndex(one: string, other: string): number {
  return one.localeCompare(other, "en", { numeric: true });
}

/**
 * Returns the steps that bring one node group to its desired machines. Lost machines are removed first, since etcd
 * accepts no new member while a dead one counts. Then come joins in order and the spread of the cluster's DNS over the
 * nodes, then the labels and taints of nodes that stay, then removals of living nodes, highest index first. A node that
 * is not ready results in a note, not in a step.
 *
 * @param recorded the machines that are in the state: joined, or partly removed
 * @param elsewhere machines of other groups in the configuration: their Nodes are never removed because of their label
 * @param observed the cluster's Nodes, or undefined when they could not be read: then the steps depend on `recorded`
 * alone
 */
export function planMembership(args: {
  group: string;
  desired: Machine[];
  recorded: string[];
  lost: string[];
  elsewhere?: string[];
  observed?: ObservedNode[];
}): MembershipPlan {
  const { group, desired, lost } = args;
  const wanted = new Set(desired.map(({ name }) => name));
  const nodes = new Map((args.observed ?? []).map((node) => [node.name, node]));
  const recorded = args.recorded.filter((name) => !wanted.has(name));
  // a join sets the group's label last, so a Node without it has not finished joining
  const present = args.observed
    ? (name: string) => nodes.get(name)?.group !== undefined
    : (name: string) => args.recorded.includes(name);

  const isControlPlane = group === CONTROL_PLANE_GROUP;
  const joins = desired
    .filter(({ name }) => !present(name))
    .map(({ name: machine }): NodeGroupStep =>
      isControlPlane ? { kind: "joinControlPlane", machine } : { kind: "join", machine, pool: group },
    );
  const settings = desired.flatMap((machine): NodeGroupStep[] => {
    const node = nodes.get(machine.name);
    const changes = node?.group ? settingsChanges(machine, node) : [];
    return changes.length === 0 ? [] : [{ kind: "settings", machine: machine.name, changes }];
  });
  const labelled = (args.observed ?? []).filter(
    (node) => node.group === group && !wanted.has(node.name) && !args.elsewhere?.includes(node.name),
  );
  const leaving = [...new Set([...recorded, ...labelled.map(({ name }) => name)])].sort((one, other) =>
    byIndex(other, one),
  );
  const isLost = (name: string) => lost.includes(name);
  const removal = (kind: "lose" | "remove") => (machine: string) => ({
    kind,
    machine,
    ...(isControlPlane ? { etcdMember: true as const } : {}),
  });

  const notes = desired.flatMap(({ name }): NodeGroupStep[] => {
    const node = nodes.get(name);
    return node && !node.ready ? [{ kind: "notReady", machine: name, why: notReadyReason(node) }] : [];
  });
  const alive = leaving.filter((name) => !isLost(name));
  for (const name of alive) {
    const node = nodes.get(name);
    if (node && !node.ready) notes.push(leavesNotReady(node));
  }
  const spread: NodeGroupStep[] = joins.length > 0 ? [{ kind: "spreadDns" }] : [];
  return {
    steps: [
      ...leaving.filter(isLost).map(removal("lose")),
      ...joins,
      ...spread,
      ...settings,
      ...alive.map(removal("remove")),
    ],
    notes,
  };
}

/** Formats a taint as kubectl does. */
function taintText({ key, value, effect }: Taint): string {
  return `${key}${value ? `=${value}` : ""}:${effect}`;
}

function settingsChanges(machine: Machine, node: ObservedNode) {
  const taints = taintChanges(machine, node);
  const { set, removed } = taints ? taintDifference(node.taints, taints) : { set: [], removed: [] };
  return [
    ...Object.entries(labelChanges(machine, node) ?? {}).map(([key, value]) =>
      value === null
        ? { what: "label" as const, setting: key, removed: true as const }
        : { what: "label" as const, setting: `${key}=${value}` },
    ),
    ...set.map((taint) => ({ what: "taint" as const, setting: taintText(taint) })),
    ...removed.map((taint) => ({
      what: "taint" as const,
      setting: taintText(taint),
      removed: true as const,
    })),
  ];
}

const notReadyReason = ({ reason = "the kubelet has not reported" }: ObservedNode): string => reason;

/** Returns a note on a node that would be drained although its machine may be gone. */
export function leavesNotReady(node: ObservedNode): NodeGroupStep {
  return { kind: "leavesNotReady", machine: node.name, why: notReadyReason(node) };
}

/**
 * Returns why machines can't join this group now, or undefined: a Node belongs to one group at a time. If the state has
 * the machine in this group, its Node was relabeled outside foresail, and gets its label back.
 *
 * @param recorded the machines of this group in the state
 */
export function refuseGroupChange(
  group: string,
  desired: Machine[],
  observed: ObservedNode[],
  recorded: string[] = [],
): string | undefined {
  const moved = observed.filter(
    (node) =>
      node.group !== undefined &&
      node.group !== group &&
      !recorded.includes(node.name) &&
      desired.some(({ name }) => name === node.name),
  );
  if (moved.length === 0) return undefined;
  const names = moved.map((node) => `${node.name} (in ${node.group})`).join(", ");
  return `${names} can't move to ${group} in one run: take it out of the configuration, run \`up\`, then add it here`;
}
