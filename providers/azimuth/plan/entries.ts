import { COMPONENT_LABEL, NODE_GROUP_LABEL } from "./names";
import type { AddonEntry, NodeEntry } from "./status";

interface Metadata {
  name?: string;
  labels?: Record<string, string>;
  creationTimestamp?: string;
}

export interface Condition {
  type?: string;
  status?: string;
  reason?: string;
}

/** The fields read from a Machine (Cluster API v1beta1). */
export interface Machine {
  metadata?: Metadata;
  spec?: { version?: string };
  status?: {
    phase?: string;
    addresses?: { type?: string; address?: string }[];
    conditions?: Condition[];
  };
}

const MACHINE_PHASES = ["Pending", "Deleting", "Deleted", "Failed"];

/** Returns a Machine as an entry of `status.nodes`. @param size flavor of its infrastructure, if known */
export function nodeEntry({ metadata = {}, spec = {}, status = {} }: Machine, size?: string): NodeEntry {
  const { labels = {}, creationTimestamp } = metadata;
  const role = labels[COMPONENT_LABEL] ?? "";
  const ips = (status.addresses ?? [])
    .filter(({ type }) => type === "InternalIP")
    .flatMap(({ address }) => (address === undefined ? [] : [address]));
  const nodeGroup = labels[NODE_GROUP_LABEL];
  return {
    role: role === "control-plane" || role === "worker" ? role : "Unknown",
    phase: nodePhase(status.phase ?? "Unknown", status.conditions ?? []),
    ...(size === undefined ? {} : { size }),
    ...(ips[0] === undefined ? {} : { ip: ips[0], ips }),
    ...(spec.version === undefined ? {} : { kubeletVersion: withoutV(spec.version) }),
    ...(nodeGroup === undefined ? {} : { nodeGroup }),
    ...(creationTimestamp === undefined ? {} : { created: creationTimestamp.replace(/Z$/, "+00:00") }),
  };
}

function nodePhase(phase: string, conditions: readonly Condition[]): string {
  if (phase === "Running") return isTrue(conditions, "NodeHealthy") ? "Ready" : "Unhealthy";
  // later Cluster API has "Updating", which an Azimuth Cluster does not have
  if (["Provisioning", "Provisioned", "Updating"].includes(phase)) return "Provisioning";
  return MACHINE_PHASES.includes(phase) ? phase : "Unknown";
}

const isTrue = (conditions: readonly Condition[], wanted: string): boolean =>
  conditions.some(({ type, status }) => type === wanted && status === "True");

const withoutV = (version: string): string => version.replace(/^v/, "");

/** The fields read from a HelmRelease, Manifests or Flux Kustomization. */
export interface AddonObject {
  kind?: string;
  metadata?: Metadata;
  status?: {
    phase?: string;
    revision?: number;
    observedGeneration?: number;
    conditions?: Condition[];
  };
}

/** Returns an addon as an entry of `status.addons`. */
export function addonEntry({ kind, status = {} }: AddonObject): AddonEntry {
  if (kind === "Kustomization") {
    const { observedGeneration } = status;
    return {
      phase: kustomizationPhase((status.conditions ?? [])[0]),
      ...(observedGeneration === undefined ? {} : { revision: observedGeneration }),
    };
  }
  return {
    phase: status.phase ?? "Unknown",
    ...(status.revision === undefined ? {} : { revision: status.revision }),
  };
}

function kustomizationPhase(first: Condition | undefined): string {
  if (first === undefined) return "Unknown";
  if (first.type !== "Ready") return "Pending";
  return first.status === "True" ? "Deployed" : "Failed";
}

/** The fields read from a KubeadmControlPlane. */
export interface ControlPlane {
  spec?: { version?: string };
  status?: { version?: string; conditions?: Condition[] };
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
export function kubernetesVersion({ spec, status }: ControlPlane): string | undefined {
  const version = status?.version ?? spec?.version;
  return version === undefined ? undefined : withoutV(version);
}
