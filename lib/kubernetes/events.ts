import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import type { KubernetesClient } from "./client";

/** Something that happened to a Node, as `kubectl describe node` shows it. */
export interface NodeEvent {
  node: string;
  /** one word: "RolloutStarted" */
  reason: string;
  message: string;
  type?: "Normal" | "Warning";
}

const LONGEST_MESSAGE = 1024;
/** Events of things without a namespace are kept there. */
const NAMESPACE = "default";

/** Writes an Event about a Node. @throws KubernetesError, KubernetesUnreachable */
export async function recordNodeEvent(client: KubernetesClient, event: NodeEvent): Promise<void> {
  const { node, reason, message, type = "Normal" } = event;
  const now = new Date().toISOString().replace(/\.\d+Z$/, "Z");
  await client.create({
    apiVersion: "v1",
    kind: "Event",
    // an Event is found by what it is about; its own name only has to be free
    metadata: { namespace: NAMESPACE, name: `${node}.${randomUUID()}` },
    // kubectl finds a Node's Events by its name in the place of the uid, as the kubelet writes them
    involvedObject: { apiVersion: "v1", kind: "Node", name: node, uid: node },
    reason,
    message: message.length > LONGEST_MESSAGE ? `${message.slice(0, LONGEST_MESSAGE - 1)}…` : message,
    type,
    source: { component: "foresail", host: hostname() },
    firstTimestamp: now,
    lastTimestamp: now,
    count: 1,
  });
}
