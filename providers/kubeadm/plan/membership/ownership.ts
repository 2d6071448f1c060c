import type { Machine } from "../machine";
import { taintId, wantedLabels } from "./node-settings";
import type { ObservedNode } from "./observed-node";

/**
 * The labels and taints that the stack set on each machine's Node, so that it removes only its own. They are kept in
 * state, since a kubelet may write to its own Node, so the Node itself can't prove who set what.
 */
export type Ownership = Record<string, { labels: string[]; taints: string[] }>;

function ownershipOf(machine: Machine): Ownership[string] {
  return { labels: Object.keys(wantedLabels(machine)), taints: machine.taints.map(taintId) };
}

/**
 * Returns what the stack has set until now. State of older releases has only the machines, with their labels and
 * taints.
 */
export function recordedOwnership(olds: { owned?: Ownership; machines?: Machine[] }): Ownership {
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
  before: Ownership,
  desired: readonly Machine[],
  observed: readonly ObservedNode[] | undefined,
): Ownership {
  return Object.fromEntries(
    desired.map((machine) => {
      const now = ownershipOf(machine);
      const earlier = before[machine.name] ?? { labels: [], taints: [] };
      const node = observed?.find(({ name }) => name === machine.name);
      const has = (ids: string[]) => (id: string) => observed === undefined || ids.includes(id);
      const labels = earlier.labels.filter(has(Object.keys(node?.labels ?? {})));
      const taints = earlier.taints.filter(has((node?.taints ?? []).map(taintId)));
      return [
        machine.name,
        {
          labels: [...new Set([...now.labels, ...labels])].sort(),
          taints: [...new Set([...now.taints, ...taints])].sort(),
        },
      ];
    }),
  );
}

/** Returns the Nodes with the labels and taints that the stack set on them. */
export function withOwnership<Node extends ObservedNode>(nodes: readonly Node[], owned: Ownership): Node[] {
  return nodes.map((node) => ({
    ...node,
    ownedLabels: owned[node.name]?.labels ?? [],
    ownedTaints: owned[node.name]?.taints ?? [],
  }));
}
