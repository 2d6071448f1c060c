import { KUBERNETES_SOFTWARE } from "./annotations";
import type { RolloutNode } from "./observed";

/** Nodes that roll under one limit. */
export interface RolloutPool {
  /** "control-plane", or a worker group */
  name: string;
  /** names of its Nodes, in the order in which they roll */
  machines: string[];
  /** how many may be away at once; control planes always go one at a time */
  maxUnavailable: number | `${number}%`;
  paused: boolean;
}

/** What a rollout is to reach. */
export interface DesiredRollout {
  /** without the leading v */
  version: string;
  /** further software by name: containerd, os-packages, node-agent */
  software: Record<string, string>;
  /** versions to stop at between minors; they win over the known patches */
  intermediates: string[];
  /** kubernetesVersion of kubeadm-config, when it could be read */
  clusterVersion?: string;
  /** control planes first, then the workers' pools in order */
  pools: RolloutPool[];
  pausedNodes: string[];
}

/** How a rollout is looked at. */
export interface RolloutOptions {
  /** Nodes whose step this run has begun and not ended; they take up room, and are not offered again. */
  begun?: readonly string[];
  /** Whether a node needs an agent that has spoken. A forecast for a foreign cluster assumes one. */
  agents?: "required" | "assumed";
  /** Workers that are left as they are whatever their Nodes say: the preview said so, or SSH did not reach them. */
  unreached?: readonly string[];
}

/** The desired-version of every software for a node that goes to this Kubernetes version: one write holds all. */
export function desiredSoftware(
  desired: Pick<DesiredRollout, "software">,
  version: string,
): Record<string, string> {
  return { ...Object.fromEntries(KUBERNETES_SOFTWARE.map((name) => [name, version])), ...desired.software };
}

/** Whether a node is not as it should be at this version (seed 004: desired, current or needed differ). */
export function isDue(
  node: RolloutNode,
  desired: Pick<DesiredRollout, "software">,
  version: string,
): boolean {
  if (node.kubeletVersion !== version) return true;
  for (const name of KUBERNETES_SOFTWARE) {
    // a cluster that no rollout has touched yet has no desired versions, and is as it should be
    if ((node.desired[name] ?? version) !== version || (node.current[name] ?? version) !== version)
      return true;
  }
  for (const name in desired.software) {
    const wanted = desired.software[name];
    if (node.current[name] !== wanted || (node.desired[name] ?? wanted) !== wanted) return true;
  }
  return false;
}
