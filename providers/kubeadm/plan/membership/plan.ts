import { CONTROL_PLANE_GROUP, type Machine, type Taint } from "../machine";
import { labelChanges, taintChanges, taintDifference, type LabelChanges } from "./node-settings";
import type { ObservedNode } from "./observed-node";

export type MembershipStep =
  | { do: "join"; machine: string }
  | { do: "spread-dns" }
  | { do: "settings"; machine: string; labels: LabelChanges; taints?: { set: Taint[]; removed: Taint[] } }
  | { do: "remove"; machine: string; lost: boolean };

export interface MembershipPlan {
  steps: MembershipStep[];
  /** Remarks for the reader that are not steps. */
  notes: string[];
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

  const joins = desired
    .filter(({ name }) => !present(name))
    .map(({ name }) => ({ do: "join" as const, machine: name }));
  const settings = desired.flatMap((machine): MembershipStep[] => {
    const node = nodes.get(machine.name);
    if (!node?.group) return [];
    const labels = labelChanges(machine, node);
    const taints = taintChanges(machine, node);
    if (!labels && !taints) return [];
    return [
      {
        do: "settings",
        machine: machine.name,
        labels: labels ?? {},
        ...(taints ? { taints: taintDifference(node.taints, taints) } : {}),
      },
    ];
  });
  const labelled = (args.observed ?? []).filter(
    (node) => node.group === group && !wanted.has(node.name) && !args.elsewhere?.includes(node.name),
  );
  const leaving = [...new Set([...recorded, ...labelled.map(({ name }) => name)])];
  const removals = leaving
    .sort((one, other) => byIndex(other, one))
    .map((machine) => ({ do: "remove" as const, machine, lost: lost.includes(machine) }));

  const notes = desired.flatMap(({ name }) => {
    const node = nodes.get(name);
    return node && !node.ready
      ? [`${name} is not Ready: ${node.reason ?? "the kubelet has not reported"}`]
      : [];
  });
  for (const { machine, lost: isLost } of removals) {
    const node = nodes.get(machine);
    if (node && !node.ready && !isLost) notes.push(leavesNotReady(node));
  }
  const dead = removals.filter((step) => step.lost);
  const alive = removals.filter((step) => !step.lost);
  const spread = joins.length > 0 ? [{ do: "spread-dns" as const }] : [];
  return { steps: [...dead, ...joins, ...spread, ...settings, ...alive], notes };
}

/** Formats a taint as kubectl does. */
function taintText({ key, value, effect }: Taint): string {
  return `${key}${value ? `=${value}` : ""}:${effect}`;
}

/** Returns a note on a node that would be drained although its machine may be gone. */
export function leavesNotReady({ name, reason }: ObservedNode): string {
  return `${name} is not Ready: ${reason ?? "the kubelet has not reported"}; if its machine is gone, list it under \`lost\``;
}

/** Formats a step as one line of a preview. */
export function describeStep(step: MembershipStep, group: string): string {
  const controlPlane = group === CONTROL_PLANE_GROUP;
  switch (step.do) {
    case "join":
      return `${step.machine}: join as ${controlPlane ? "control plane unless it is one" : `worker of ${group}`}, wait until Ready`;
    case "spread-dns":
      return "cluster DNS: move its pods apart if all of them are on one node";
    case "settings": {
      const labels = Object.entries(step.labels).map(([key, value]) =>
        value === null ? `label ${key} removed` : `label ${key}=${value}`,
      );
      const { set = [], removed = [] } = step.taints ?? {};
      const taints = [
        ...set.map((taint) => `taint ${taintText(taint)}`),
        ...removed.map((taint) => `taint ${taintText(taint)} removed`),
      ];
      return `${step.machine}: ${[...labels, ...taints].join(", ")}`;
    }
    case "remove": {
      if (step.lost)
        return `${step.machine}: lost, ${controlPlane ? "remove its etcd member, " : ""}delete its Node`;
      return `${step.machine}: cordon, drain, ${controlPlane ? "remove its etcd member, " : ""}kubeadm reset, delete its Node`;
    }
  }
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
