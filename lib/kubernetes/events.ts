import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { displayText } from "../text/display";
import { shortened } from "../text/quote";
import type { KubernetesClient } from "./client";

/** An Event about a Node, as `kubectl describe node` shows it. */
export interface NodeEvent {
  node: string;
  /** one word: "RolloutStarted" */
  reason: string;
  message: string;
  type?: "Normal" | "Warning";
}

const LONGEST_MESSAGE = 1024;
/** Kubernetes stores Events about cluster-scoped objects in this namespace. */
const NAMESPACE = "default";

/** Writes an Event about a Node. @throws KubernetesError, KubernetesUnreachable */
export async function recordNodeEvent(client: KubernetesClient, event: NodeEvent): Promise<void> {
  const { node, reason, message, type = "Normal" } = event;
  const now = new Date().toISOString().replace(/\.\d+Z$/, "Z");
  await client.create({
    apiVersion: "v1",
    kind: "Event",
    // an Event's name only has to be unique
    metadata: { namespace: NAMESPACE, name: `${node}.${randomUUID()}` },
    // kubectl finds a Node's Events by its name in the field uid, as the kubelet writes them
    involvedObject: { apiVersion: "v1", kind: "Node", name: node, uid: node },
    reason,
    message: shortened(displayText(message), LONGEST_MESSAGE - 1),
    type,
    source: { component: "foresail", host: hostname() },
    firstTimestamp: now,
    lastTimestamp: now,
    count: 1,
  });
}
