import { COMPONENT_LABEL, NODE_GROUP_LABEL } from "./names";

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

interface AddonEntry {
  phase: string;
  revision?: number;
}

/** How long a cluster may be in transition before it counts as unhealthy, in seconds. */
const STUCK_SECONDS = 1800;

type Facts = Pick<ClusterStatus, "leasePhase" | "networkingPhase" | "controlPlanePhase" | "nodes" | "addons">;

const isOneOf = (word: string, ...words: string[]): boolean => words.includes(word);

/** What a Lease means for the cluster's phase; another phase of it is Pending, null decides nothing. */
const LEASE: Readonly<Record<string, string | null>> = {
  Active: null,
  Updating: null,
  Error: "Failed",
  Terminating: "Unhealthy",
  Terminated: "Unhealthy",
  Deleting: "Unhealthy",
};
const NETWORKING: typeof LEASE = {
  Pending: "Reconciling",
  Provisioning: "Reconciling",
  Provisioned: null,
  Deleting: "Deleting",
  Failed: "Failed",
};
/** "Scaling" is an upgrade while the versions differ. */
const CONTROL_PLANE: typeof LEASE = {
  Pending: "Scaling",
  ScalingUp: "Scaling",
  ScalingDown: "Scaling",
  Upgrading: "Upgrading",
  Deleting: "Deleting",
  Failed: "Failed",
  Ready: null,
  Unhealthy: null,
};

const meaning = (table: typeof LEASE, phase = "Unknown"): string | null =>
  Object.hasOwn(table, phase) ? (table[phase] ?? null) : "Pending";

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
    (leased ? meaning(LEASE, facts.leasePhase) : null) ??
    meaning(NETWORKING, facts.networkingPhase) ??
    meaning(CONTROL_PLANE, controlPlane);
  if (first === "Scaling") return isMixed(nodes, "control-plane") ? "Upgrading" : "Reconciling";
  if (first !== null) return first;
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

interface Metadata {
  name?: string;
  labels?: Record<string, string>;
  creationTimestamp?: string;
}

export interface StatusCondition {
  type?: string;
  status?: string;
  reason?: string;
}

/** The fields read from a Machine (Cluster API v1beta1). */
export interface ApiMachine {
  metadata?: Metadata;
  spec?: { version?: string };
  status?: {
    phase?: string;
    addresses?: { type?: string; address?: string }[];
    conditions?: StatusCondition[];
  };
}

const MACHINE_PHASES = ["Pending", "Deleting", "Deleted", "Failed"];

/** Returns a Machine as an entry of `status.nodes`. @param size flavor of its infrastructure, if known */
export function nodeEntry({ metadata = {}, spec = {}, status = {} }: ApiMachine, size?: string): NodeEntry {
  const { labels = {}, creationTimestamp } = metadata;
  const role = labels[COMPONENT_LABEL] ?? "";
  const ips = (status.addresses ?? [])
    .filter(({ type }) => type === "InternalIP")
    .flatMap(({ address }) => (address === undefined ? [] : [address]));
  return {
    role: role === "control-plane" || role === "worker" ? role : "Unknown",
    phase: nodePhase(status.phase ?? "Unknown", status.conditions ?? []),
    size,
    ip: ips[0],
    ips: ips.length === 0 ? undefined : ips,
    kubeletVersion: withoutV(spec.version),
    nodeGroup: labels[NODE_GROUP_LABEL],
    created: creationTimestamp?.replace(/Z$/, "+00:00"),
  };
}

function nodePhase(phase: string, conditions: readonly StatusCondition[]): string {
  if (phase === "Running") return isTrue(conditions, "NodeHealthy") ? "Ready" : "Unhealthy";
  // later Cluster API has "Updating", which an Azimuth Cluster does not have
  if (["Provisioning", "Provisioned", "Updating"].includes(phase)) return "Provisioning";
  return MACHINE_PHASES.includes(phase) ? phase : "Unknown";
}

const isTrue = (conditions: readonly StatusCondition[], wanted: string): boolean =>
  conditions.some(({ type, status }) => type === wanted && status === "True");

const withoutV = (version: string | undefined): string | undefined => version?.replace(/^v/, "");

/** The fields read from a HelmRelease, Manifests or a Kustomization of Flux. */
export interface AddonObject {
  kind?: string;
  metadata?: Metadata;
  status?: { phase?: string; revision?: number; observedGeneration?: number; conditions?: StatusCondition[] };
}

/** Returns an addon as an entry of `status.addons`. */
export function addonEntry(addon: AddonObject): AddonEntry {
  const { phase = "Unknown", revision, observedGeneration } = addon.status ?? {};
  if (addon.kind !== "Kustomization") return { phase, revision };
  return { phase: kustomizationPhase(addon.status?.conditions), revision: observedGeneration };
}

/** Flux has conditions instead of a phase; Azimuth reads the first one. */
function kustomizationPhase([first]: readonly StatusCondition[] = []): string {
  if (first === undefined) return "Unknown";
  if (first.type !== "Ready") return "Pending";
  return first.status === "True" ? "Deployed" : "Failed";
}

/** The fields read from a KubeadmControlPlane. */
export interface ControlPlane {
  metadata?: Metadata;
  spec?: { version?: string };
  status?: { version?: string; conditions?: StatusCondition[] };
}

/** Returns `status.controlPlanePhase`. */
export function controlPlanePhase({ status = {} }: ControlPlane): string {
  const conditions = status.conditions ?? [];
  const ready = conditions.find(({ type }) => type === "Ready");
  if (!ready) return "Pending";
  if (ready.status === "True")
    return isTrue(conditions, "ControlPlaneComponentsHealthy") ? "Ready" : "Unhealthy";
  const { reason = "" } = ready;
  if (reason === "ScalingUp" || reason.startsWith("Waiting")) return "ScalingUp";
  if (reason === "RollingUpdateInProgress") return "Upgrading";
  return ["ScalingDown", "Deleting"].includes(reason) ? reason : "Unhealthy";
}

/** Returns `status.kubernetesVersion`: the current version, or the desired one before there is one. */
export function controlPlaneVersion({ spec, status }: ControlPlane): string | undefined {
  return withoutV(status?.version ?? spec?.version);
}
