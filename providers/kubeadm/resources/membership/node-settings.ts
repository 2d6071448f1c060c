import { KubernetesError } from "../../../../lib/kubernetes";
import {
  labelChanges,
  taintChanges,
  untaintedMachines,
  type LabelChanges,
  withOwnership,
  type ObservedNode,
} from "../../plan/membership/nodes";
import type { Machine, Taint } from "../../plan/cluster/machine";
import { type ClusterSession, nodeReference } from "../session/cluster-session";
import type { NodeGroupInputs } from "../declarations";
import { observeNode } from "./observed-nodes";

const CONFLICT_ATTEMPTS = 6;

/** Returns what to set on a Node; absent fields are not written. The list of taints replaces the Node's whole list. */
type Settings = (node: ObservedNode) => { labels?: LabelChanges; taints?: Taint[] };

/**
 * Writes labels and taints to a Node. The list of taints is written as a whole, so it is only written to the version
 * that was read: a taint that another writer adds in between is not lost.
 *
 * @throws KubernetesError 409 when other writers keep changing the Node
 */
export async function writeNodeSettings(
  { kubernetes }: ClusterSession<NodeGroupInputs>,
  name: string,
  settings: Settings,
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const object = await kubernetes.getNode(name);
    if (!object) throw new Error(`Node ${name} is not in the cluster`);
    const { labels, taints } = settings(observeNode(object));
    if (!labels && !taints) return;
    const { resourceVersion } = object.metadata ?? {};
    try {
      await kubernetes.mergePatch(nodeReference(name), {
        metadata: { ...(labels ? { labels } : {}), ...(taints ? { resourceVersion } : {}) },
        ...(taints ? { spec: { taints } } : {}),
      });
      return;
    } catch (error) {
      const isConflict = error instanceof KubernetesError && error.reason === "Conflict";
      if (!isConflict || attempt >= CONFLICT_ATTEMPTS) throw error;
    }
  }
}

/** Returns the taints that a Node of a group should have, as taintChanges does. */
export const groupTaints = (
  { inputs: { specification, machines } }: ClusterSession<NodeGroupInputs>,
  machine: Machine,
  node: ObservedNode,
) => taintChanges(machine, node, untaintedMachines(specification, machines));

/**
 * Sets the configured labels and taints on a Node, and removes those that the stack set earlier.
 *
 * @throws KubernetesError 409 when other writers keep changing the Node
 */
export async function applyNodeSettings(
  session: ClusterSession<NodeGroupInputs>,
  machine: Machine,
): Promise<void> {
  await writeNodeSettings(session, machine.name, (observed) => {
    const [node] = withOwnership([observed], session.inputs.owned ?? {}) as [ObservedNode];
    return { labels: labelChanges(machine, node), taints: groupTaints(session, machine, node) };
  });
}
