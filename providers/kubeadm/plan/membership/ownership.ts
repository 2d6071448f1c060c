import type { Machine } from "../machine";
import { taintId, wantedLabels } from "./node-settings";
import type { ObservedNode } from "./observed-node";

/**
 * Which labels and taints of each machine's Node the stack set, so that it takes back only its own. It is kept in the
 * state: a kubelet may write to its own Node, so nothing on the Node can say who set what.
 */
export type Ownership = Record<string, { labels: string[]; taints: string[] }>;

function ownershipOf(machine: Machine): Ownership[string] {
  return { labels: Object.keys(wantedLabels(machine)), taints: machine.taints.map(taintId) };
}

/** What the stack set until now. State of older releases has the machines alone, with their labels and taints. */
export function recordedOwnership(olds: { owned?: Ownership; machines?: Machine[] }): Ownership {
  if (olds.owned) return olds.owned;
  return Object.fromEntries((olds.machines ?? []).map((machine) => [machine.name, ownershipOf(machine)]));
}

/**
 * What the stack has set after a run: its earlier labels and taints that are still on the Nodes, and those that it sets now.
 * So what a failed run could not take back is taken back by the next one.
 *
 * @param observed the cluster's Nodes, or undefined when it could not be read: then all that was set counts as still there
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

/** The Nodes with what the stack set on them. */
export function withOwnership<Node extends ObservedNode>(nodes: readonly Node[], owned: Ownership): Node[] {
  return nodes.map((node) => ({
    ...node,
    ownedLabels: owned[node.name]?.labels ?? [],
    ownedTaints: owned[node.name]?.taints ?? [],
  }));
}
