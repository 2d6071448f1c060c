import { CONTROL_PLANE_GROUP, type Machine } from "../machine";
import type { RolloutPool, DesiredRollout } from "./desired";

/** What is asked before a node is begun: an address that answers 2xx, or a command that ends with 0. */
type RolloutGate = { url: string } | { command: string };

/** How a cluster's versions roll; plain data, defaults already filled in. */
export interface RolloutSettings {
  /** annotation keys, with `[software]` in it */
  annotations: string;
  intermediateVersions: string[];
  /** of a pool that says nothing else */
  maxUnavailable: RolloutPool["maxUnavailable"];
  pools: Record<string, { maxUnavailable?: RolloutPool["maxUnavailable"]; paused?: boolean }>;
  pausedNodes: string[];
  /** between the end of a node and the beginning of the next */
  soakSeconds: number;
  gate?: RolloutGate;
  /** a duration or a time of day, see stop-after.ts */
  stopAfter?: string;
  /** for the node agent's work on one node */
  nodeTimeoutSeconds: number;
  software: { containerd?: string; osPackages?: string };
}

/** The further software of a wish, by its names in the annotations. */
export function furtherSoftware({ software }: Pick<RolloutSettings, "software">): Record<string, string> {
  const { containerd, osPackages } = software;
  return { ...(containerd ? { containerd } : {}), ...(osPackages ? { "os-packages": osPackages } : {}) };
}

/** What a rollout is to reach: the control planes first, then the worker pools in the order of the configuration. */
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
