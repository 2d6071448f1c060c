import { KUBERNETES_SOFTWARE } from "./annotations";
import type { RolloutNode } from "./observed";

/** Nodes that share one limit in a rollout. */
export interface RolloutPool {
  /** "control-plane", or the name of a worker group. */
  name: string;
  /** Names of the pool's Nodes, in rollout order. */
  machines: string[];
  /** How many nodes may be away at once; control planes always roll one at a time. */
  maxUnavailable: number | `${number}%`;
  paused: boolean;
}

/** Desired state of a rollout. */
export interface DesiredRollout {
  /** Kubernetes version without the leading v. */
  version: string;
  /** Versions of further software by name: containerd, os-packages, node-agent. */
  software: Record<string, string>;
  /** Versions to stop at between minors; they take precedence over the known patches. */
  intermediates: string[];
  /** kubernetesVersion of kubeadm-config, if it could be read. */
  clusterVersion?: string;
  /** Control planes first, then the worker pools in order. */
  pools: RolloutPool[];
  pausedNodes: string[];
}

/** Options for computing a rollout's state and steps. */
export interface RolloutOptions {
  /** Nodes whose step this run has begun and not finished. They count as away and are not returned again. */
  begun?: readonly string[];
  /**
   * Whether a node needs an agent that has reported. A forecast for a cluster that foresail did not create assumes
   * one.
   */
  agents?: "required" | "assumed";
  /** Workers to leave as they are regardless of their Nodes: the preview left them out, or SSH did not reach them. */
  unreached?: readonly string[];
}

/** Returns the desired version of every software for a node at this Kubernetes version, to be written in one write. */
export function desiredSoftware(
  desired: Pick<DesiredRollout, "software">,
  version: string,
): Record<string, string> {
  return { ...Object.fromEntries(KUBERNETES_SOFTWARE.map((name) => [name, version])), ...desired.software };
}

/**
 * Returns whether a node differs from its desired state at this version (seed 004: desired, current or needed
 * differ).
 */
export function isDue(
  node: RolloutNode,
  desired: Pick<DesiredRollout, "software">,
  version: string,
): boolean {
  if (node.kubeletVersion !== version) return true;
  for (const name of KUBERNETES_SOFTWARE) {
    // before its first rollout a cluster has no desired versions, and that is no difference
    if ((node.desired[name] ?? version) !== version || (node.current[name] ?? version) !== version)
      return true;
  }
  for (const name in desired.software) {
    const wanted = desired.software[name];
    if (node.current[name] !== wanted || (node.desired[name] ?? wanted) !== wanted) return true;
  }
  return false;
}
