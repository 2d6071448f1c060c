import { type ClusterObjects, observedStatus } from "./record";
import { clusterPhase } from "./status";

/** The fields of a MachineDeployment (Cluster API v1beta1) that a wait reads. */
export interface MachineDeployment {
  metadata?: { name?: string; generation?: number; labels?: Record<string, string> };
  spec?: { replicas?: number };
  status?: {
    observedGeneration?: number;
    replicas?: number;
    updatedReplicas?: number;
    readyReplicas?: number;
  };
}

/** Whether a cluster's machines are ready, with the cluster's phase; otherwise what is missing. */
export type Readiness = { ready: true; phase: string } | { ready: false; phase: string; why: string };

/**
 * Evaluates whether the control plane and all machines of a cluster are Ready. Addons count for the phase only, since the
 * cluster can be used without them.
 *
 * @param leased whether the cluster has a Lease
 */
export function readiness(
  objects: ClusterObjects & { deployments: readonly MachineDeployment[] },
  { leased, now }: { leased: boolean; now: number },
): Readiness {
  const status = observedStatus({}, objects, { leased, now });
  const { phase = "Unknown" } = status;
  const machines = clusterPhase({ ...status, addons: {} }, leased);
  const waiting = objects.deployments.flatMap((deployment) => missingOf(deployment) ?? []);
  if (machines === "Ready" && waiting.length === 0) return { ready: true, phase };
  const nodes = Object.entries(status.nodes ?? {}).filter(([, node]) => node.phase !== "Ready");
  const parts = [
    `network ${status.networkingPhase ?? "Unknown"}`,
    `control plane ${status.controlPlanePhase ?? "Unknown"}`,
    ...waiting,
    ...cut(nodes.map(([name, node]) => `${name} ${node.phase}`)),
  ];
  return { ready: false, phase, why: `${machines} (${parts.join(", ")})` };
}

/** Returns what a MachineDeployment still has to do, or undefined. */
function missingOf({ metadata, spec, status }: MachineDeployment): string | undefined {
  const name = metadata?.name ?? "a MachineDeployment";
  const wanted = spec?.replicas ?? 1;
  const {
    observedGeneration,
    replicas = 0,
    readyReplicas = 0,
    updatedReplicas = readyReplicas,
  } = status ?? {};
  if (observedGeneration !== undefined && observedGeneration < (metadata?.generation ?? 0))
    return `${name}: its change is not observed yet`;
  const ready = Math.min(readyReplicas, updatedReplicas);
  if (ready < wanted) return `${name}: ${ready} of ${wanted} machines are ready`;
  return replicas > wanted ? `${name}: ${replicas - wanted} machines leave` : undefined;
}

const MOST_NAMES = 5;

function cut(lines: readonly string[]): string[] {
  const more = lines.length - MOST_NAMES;
  return more > 0 ? [...lines.slice(0, MOST_NAMES), `and ${more} more`] : [...lines];
}
