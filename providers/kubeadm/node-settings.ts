import {
  labelChanges,
  OWNED_LABELS,
  OWNED_TAINTS,
  taintChanges,
  wantedLabels,
} from "../../core/membership/node-settings";
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

/** Sets the labels and taints that the configuration wants on a Node, and notes which are foresail's own. */
export async function applyNodeSettings(session: ClusterSession, machine: Machine): Promise<void> {
  const object = await session.kubernetes.get<NodeObject>(nodeReference(machine.name));
  if (!object) throw new Error(`Node ${machine.name} is not in the cluster`);
  const node = observeNode(object);
  const taints = taintChanges(machine, node);
  await session.kubernetes.mergePatch(nodeReference(machine.name), {
    metadata: {
      labels: labelChanges(machine, node) ?? {},
      annotations: {
        [OWNED_LABELS]: Object.keys(wantedLabels(machine)).sort().join(","),
        [OWNED_TAINTS]: machine.taints
          .map(({ key }) => key)
          .sort()
          .join(","),
      },
    },
    ...(taints ? { spec: { taints } } : {}),
  });
}
