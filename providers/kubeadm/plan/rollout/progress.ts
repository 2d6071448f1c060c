import type { RolloutNode } from "./observed";

/** What was requested of a node. */
export interface Asked {
  /** Version of the kubelet. */
  version: string;
  /** Versions of every software; undefined when only the change window has to be closed. */
  software: Record<string, string> | undefined;
}

/**
 * Describes what a node still has to do to reach the requested versions; undefined when it has finished. Checks the
 * kubelet's version before Ready, since a restarting kubelet leaves its old Ready condition behind for a while.
 */
export function pendingOf(node: RolloutNode, { version, software }: Asked): string | undefined {
  const failure = node.message ? `; its last failure: ${node.message}` : "";
  if (software === undefined) {
    const isWorking = Object.keys(node.desired).some(
      (name) => node.desired[name] !== (node.current[name] ?? node.desired[name]),
    );
    if (node.agentReady === false || isWorking) return `the node agent is at work${failure}`;
  } else {
    const behind = Object.keys(software).filter((name) => node.current[name] !== software[name]);
    if (node.agentReady === undefined) return `no node agent has spoken${failure}`;
    if (behind.length > 0) {
      const words = behind.map((name) => `${name} ${node.current[name] ?? "unknown"}, not ${software[name]}`);
      return `${node.agentReady ? "the node agent has not begun" : "the node agent is at work"}: ${words.join(", ")}${failure}`;
    }
    const undesired = Object.keys(software).filter((name) => node.desired[name] !== software[name]);
    if (undesired.length > 0) return `somebody else asked for another version of ${undesired.join(", ")}`;
    if (!node.agentReady) return `the node agent is not ready${failure}`;
  }
  if (node.kubeletVersion !== version)
    return `the kubelet reports ${node.kubeletVersion || "no version"}, not ${version}${failure}`;
  return node.ready ? undefined : `not Ready: ${node.reason ?? "the kubelet has not reported"}${failure}`;
}
