import { KubernetesError } from "../../clients/kubernetes";
import { labelChanges, taintChanges } from "../../core/membership/node-settings";
import { type Ownership, withOwnership } from "../../core/membership/ownership";
import type { Machine } from "../../core/machine";
import type { ClusterSession } from "./cluster-session";
import type { ObservedNode } from "../../core/membership/observed-node";
import { report } from "../report";
import { observeNode, type NodeObject } from "./observed-nodes";

/** The reference of a machine's Node. */
export function nodeReference(name: string) {
  return { apiVersion: "v1", kind: "Node", name };
}

/** Waits until the machine's Node exists and is Ready. Throws WaitTimeout with the condition's last words. */
export async function waitUntilReady(
  session: ClusterSession,
  machine: Machine,
  seconds: number,
): Promise<void> {
  await session.kubernetes.watchUntil<ObservedNode, NodeObject>({
    ...nodeReference(machine.name),
    what: `Node ${machine.name} to be Ready`,
    seconds,
    signal: session.signal,
    progress: (line) => report(session.resource, line),
    decide: ([object]) => {
      if (!object) return { pending: "it has not registered" };
      const node = observeNode(object);
      return node.ready ? { done: node } : { pending: node.reason ?? "the kubelet has not reported" };
    },
  });
}

const CONFLICT_ATTEMPTS = 6;

/**
 * Sets the labels and taints that the configuration wants on a Node, and takes back those that the stack set earlier. The
 * list of taints is written as a whole, so it is written only to the version that was read: no taint that somebody adds in
 * between is lost.
 *
 * @throws KubernetesError 409 when others go on changing the Node
 */
export async function applyNodeSettings(
  session: ClusterSession,
  machine: Machine,
  owned: Ownership,
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const object = await session.kubernetes.get<NodeObject>(nodeReference(machine.name));
    if (!object) throw new Error(`Node ${machine.name} is not in the cluster`);
    const [node] = withOwnership([observeNode(object)], owned) as [ObservedNode];
    const labels = labelChanges(machine, node);
    const taints = taintChanges(machine, node);
    if (!labels && !taints) return;
    const { resourceVersion } = object.metadata ?? {};
    try {
      await session.kubernetes.mergePatch(nodeReference(machine.name), {
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
