/** The parts of an Azimuth Cluster's status that foresail reads or writes. Undefined fields have their defaults. */
export interface ClusterStatus {
  phase?: string;
  leasePhase?: string;
  networkingPhase?: string;
  controlPlanePhase?: string;
  kubernetesVersion?: string;
  kubeconfigSecretName?: string;
  lastUpdated?: string;
  nodeCount?: number;
  nodes?: Record<string, NodeEntry>;
  addonCount?: number;
  addons?: Record<string, AddonEntry>;
  services?: Record<string, Record<string, unknown>>;
}

export interface NodeEntry {
  role: string;
  phase: string;
  size?: string;
  ip?: string;
  ips?: string[];
  kubeletVersion?: string;
  nodeGroup?: string;
  created?: string;
}

export interface AddonEntry {
  phase: string;
  revision?: number;
}

/** How long a cluster may be in transition before it counts as unhealthy, in seconds. */
const STUCK_SECONDS = 1800;

type Facts = Pick<ClusterStatus, "leasePhase" | "networkingPhase" | "controlPlanePhase" | "nodes" | "addons">;

const isOneOf = (word: string, ...words: string[]): boolean => words.includes(word);

/** Returns the cluster's phase for a Lease that is not usable. */
function phaseOfLease(lease: string): string | undefined {
  if (isOneOf(lease, "Active", "Updating")) return undefined;
  if (lease === "Error") return "Failed";
  return isOneOf(lease, "Terminating", "Terminated", "Deleting") ? "Unhealthy" : "Pending";
}

function phaseOfNetworking(networking: string): string | undefined {
  if (isOneOf(networking, "Pending", "Provisioning")) return "Reconciling";
  if (isOneOf(networking, "Deleting", "Failed")) return networking;
  return networking === "Provisioned" ? undefined : "Pending";
}

function phaseOfControlPlane(controlPlane: string, nodes: readonly NodeEntry[]): string | undefined {
  if (isOneOf(controlPlane, "Pending", "ScalingUp", "ScalingDown"))
    return isMixed(nodes, "control-plane") ? "Upgrading" : "Reconciling";
  if (isOneOf(controlPlane, "Upgrading", "Deleting", "Failed")) return controlPlane;
  return isOneOf(controlPlane, "Ready", "Unhealthy") ? undefined : "Pending";
}

/** Returns whether nodes of a role have different kubelet versions. */
function isMixed(nodes: readonly NodeEntry[], role: string): boolean {
  const versions = nodes.filter((node) => node.role === role).map(({ kubeletVersion }) => kubeletVersion);
  return new Set(versions).size > 1;
}

/**
 * Returns the phase of a cluster from its parts: lease, network, control plane, workers, nodes, addons, in this order.
 * Ignores the Lease without `leased`, and the time; `phaseAt` includes the time.
 */
export function clusterPhase(facts: Facts, leased: boolean): string {
  const nodes = Object.values(facts.nodes ?? {});
  const addons = Object.values(facts.addons ?? {});
  const controlPlane = facts.controlPlanePhase ?? "Unknown";
  const first =
    (leased ? phaseOfLease(facts.leasePhase ?? "Unknown") : undefined) ??
    phaseOfNetworking(facts.networkingPhase ?? "Unknown") ??
    phaseOfControlPlane(controlPlane, nodes);
  if (first !== undefined) return first;
  if (isMixed(nodes, "worker")) return "Upgrading";
  if (nodes.some(({ phase }) => isOneOf(phase, "Pending", "Provisioning", "Deleting", "Deleted")))
    return "Reconciling";
  const working = ["Pending", "Preparing", "Installing", "Upgrading", "Uninstalling"];
  if (addons.some(({ phase }) => working.includes(phase))) return "Reconciling";
  const isUnhealthy =
    controlPlane === "Unhealthy" ||
    nodes.some(({ phase }) => isOneOf(phase, "Unhealthy", "Failed", "Unknown")) ||
    addons.some(({ phase }) => isOneOf(phase, "Failed", "Unknown"));
  return isUnhealthy ? "Unhealthy" : "Ready";
}

/**
 * Returns the phase of a status at a time, and the time at which its transition began.
 *
 * @param now in milliseconds since 1970
 */
export function phaseAt(
  status: Facts & Pick<ClusterStatus, "lastUpdated">,
  leased: boolean,
  now: number,
): { phase: string; lastUpdated: string | undefined } {
  const phase = clusterPhase(status, leased);
  if (isOneOf(phase, "Ready", "Failed")) return { phase, lastUpdated: undefined };
  const lastUpdated = status.lastUpdated ?? timestamp(now);
  const isStuck = now > Date.parse(lastUpdated) + STUCK_SECONDS * 1000;
  const isOnTheWay = isOneOf(phase, "Pending", "Reconciling", "Upgrading");
  return { phase: isStuck && isOnTheWay ? "Unhealthy" : phase, lastUpdated };
}

/** Formats a time as Azimuth does, with microseconds and an offset. @param now in milliseconds since 1970 */
export function timestamp(now: number): string {
  return new Date(now).toISOString().replace("Z", "000+00:00");
}
