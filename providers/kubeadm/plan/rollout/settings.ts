import { CONTROL_PLANE_GROUP, type Machine } from "../machine";
import type { RolloutPool, DesiredRollout } from "./desired";

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
