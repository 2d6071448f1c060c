import { KUBERNETES_SOFTWARE } from "./annotations";
import type { RolloutNode } from "./observed";
import { CONTROL_PLANE_GROUP, type Machine } from "../machine";

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

/** Check before each node begins: a URL that answers 2xx, or a command that exits with 0. */
type RolloutGate = { url: string } | { command: string };

/** Settings of a cluster's rollouts, as plain data with the defaults filled in. */
export interface RolloutSettings {
  /** Pattern of the annotation keys, which contains `[software]`. */
  annotations: string;
  intermediateVersions: string[];
  /** For pools without a value of their own. */
  maxUnavailable: RolloutPool["maxUnavailable"];
  pools: Record<string, { maxUnavailable?: RolloutPool["maxUnavailable"]; paused?: boolean }>;
  pausedNodes: string[];
  /** Pause between the end of one node and the beginning of the next. */
  soakSeconds: number;
  gate?: RolloutGate;
  /** A duration or a time of day, see stop-after.ts. */
  stopAfter?: string;
  /** Time limit for the node agent's work on one node. */
  nodeTimeoutSeconds: number;
  software: { containerd?: string; osPackages?: string };
}

/** Returns the desired versions of further software, by its names in the annotations. */
export function furtherSoftware({ software }: Pick<RolloutSettings, "software">): Record<string, string> {
  const { containerd, osPackages } = software;
  return { ...(containerd ? { containerd } : {}), ...(osPackages ? { "os-packages": osPackages } : {}) };
}

/** Returns the desired state of a rollout: control planes first, then the worker pools in the configuration's order. */
export function desiredRollout(
  version: string,
  machines: readonly Pick<Machine, "name" | "group">[],
  settings: RolloutSettings,
  clusterVersion?: string,
): DesiredRollout {
  const groups = new Set([CONTROL_PLANE_GROUP, ...machines.map(({ group }) => group)]);
  const pools = [...groups].map((name): RolloutPool => {
    const own = settings.pools[name] ?? {};
    return {
      name,
      machines: machines.filter(({ group }) => group === name).map((machine) => machine.name),
      maxUnavailable: own.maxUnavailable ?? settings.maxUnavailable,
      paused: own.paused ?? false,
    };
  });
  return {
    version,
    software: furtherSoftware(settings),
    intermediates: settings.intermediateVersions,
    ...(clusterVersion === undefined ? {} : { clusterVersion }),
    pools,
    pausedNodes: settings.pausedNodes,
  };
}

/**
 * Returns how many nodes of a pool of this size may be away at once. Percentages are rounded down, but never below
 * one.
 */
export function maxUnavailableCount(value: RolloutPool["maxUnavailable"], size: number): number {
  const count = typeof value === "number" ? value : (size * Number(value.slice(0, -1))) / 100;
  return Math.max(1, Math.floor(count) || 0);
}
