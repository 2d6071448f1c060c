import { KubernetesError } from "../../../lib/kubernetes";
import {
  hasLostRole,
  labelChanges,
  roleLabels,
  taintChanges,
  type LabelChanges,
  type Ownership,
  withOwnership,
  type ObservedNode,
} from "../plan/membership/nodes";
import type { Machine, Taint } from "../plan/machine";
import type { ClusterSession } from "./cluster-session";
import { report } from "../../../lib/pulumi/log";
import { observeNode, type NodeObject } from "./observed-nodes";

/** Returns the reference of a machine's Node. */
export function nodeReference(name: string) {
  return { apiVersion: "v1", kind: "Node", name };
}

/** Waits until the machine's Node exists. @throws WaitTimeout */
export async function waitUntilRegistered(
  session: ClusterSession,
  machine: Machine,
  seconds: number,
): Promise<void> {
  await session.kubernetes.watchUntil<void, NodeObject>({
    ...nodeReference(machine.name),
    what: `Node ${machine.name} to register`,
    seconds,
    signal: session.signal,
    progress: (line) => report(session.resource, line),
    decide: ([object]) => (object ? { done: undefined } : { pending: "it has not registered" }),
  });
}

/** Waits until the machine's Node exists and is Ready. @throws WaitTimeout with the condition's last message */
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

/** Returns what to set on a Node; absent fields are not written. The list of taints replaces the Node's whole list. */
type Settings = (node: ObservedNode) => { labels?: LabelChanges; taints?: Taint[] };

/**
 * Writes labels and taints to a Node. The list of taints is written as a whole, so it is only written to the version
 * that was read: a taint that another writer adds in between is not lost.
 *
 * @throws KubernetesError 409 when other writers keep changing the Node
 */
async function writeSettings(session: ClusterSession, name: string, settings: Settings): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const object = await session.kubernetes.get<NodeObject>(nodeReference(name));
    if (!object) throw new Error(`Node ${name} is not in the cluster`);
    const { labels, taints } = settings(observeNode(object));
    if (!labels && !taints) return;
    const { resourceVersion } = object.metadata ?? {};
    try {
      await session.kubernetes.mergePatch(nodeReference(name), {
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

/**
 * Sets the configured labels and taints on a Node, and removes those that the stack set earlier.
 *
 * @throws KubernetesError 409 when other writers keep changing the Node
 */
export async function applyNodeSettings(
  session: ClusterSession,
  machine: Machine,
  owned: Ownership,
): Promise<void> {
  await writeSettings(session, machine.name, (observed) => {
    const [node] = withOwnership([observed], owned) as [ObservedNode];
    return { labels: labelChanges(machine, node), taints: taintChanges(machine, node) };
  });
}

/** Restores the labels and the taint of a control plane's Node, if it has lost its role. */
export async function restoreRole(session: ClusterSession, machine: Machine): Promise<void> {
  await writeSettings(session, machine.name, (node) =>
    hasLostRole(machine, node) ? { labels: roleLabels(), taints: taintChanges(machine, node) } : {},
  );
}
