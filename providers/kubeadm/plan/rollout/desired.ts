import { CONTROL_PLANE_GROUP, type Machine } from "../cluster/machine";
import type { UnreachableLimit } from "../membership/unreachable";
import { memberOf } from "../cluster/pools";
import { type ConfigurationVersions, drainsFor, versionFor } from "../configuration/configuration";
import { firstEnd, renewableEnds } from "../certificates/report";
import { drainsForRepair, namedFiles } from "../drift/drift";
import { CERTIFICATES, CONFIGURATION, DRIFT, KUBERNETES_SOFTWARE, NO_DRIFT, OS_UPDATES } from "./annotations";
import type { PendingUpdates, UpdateSettings } from "../updates/updates";
import type { RolloutNode } from "./observed";
import { recalledRequests, type RecalledRequest } from "./recall";
import { minorsBetween } from "./versions";

/** What happens to a node on which a change fails: it goes back to what it had, or stays as the failure left it. */
export type OnFailure = "back" | "stop";

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
  /** Versions of the nodes' configuration; absent until it changes for the first time. */
  configuration?: ConfigurationVersions;
  /** Versions to stop at between minors; they take precedence over the known patches. */
  intermediates: string[];
  /** kubernetesVersion of kubeadm-config, if it could be read. */
  clusterVersion?: string;
  /** Control planes first, then the worker pools in order. */
  pools: RolloutPool[];
  pausedNodes: string[];
  /** Names of machines that a later run replaces or removes; absent for none. */
  leavingLater?: readonly string[];
  /** Nodes keep their pods while a patch version changes; absent when they are drained. */
  keepsPods?: boolean;
}

/** Options for computing a rollout's state and steps. */
export interface RolloutOptions {
  /** Nodes whose step this run has begun and not finished. They count as away and are not returned again. */
  begun?: readonly string[];
  /** Whether a node needs an agent that has reported; a forecast for a cluster that others made assumes one. */
  agents?: "required" | "assumed";
  /** Workers to leave as they are regardless of their Nodes: the preview left them out, or SSH did not reach them. */
  unreached?: readonly string[];
}

/** Parts of the desired state that a node gets besides its Kubernetes version. */
type DesiredSoftware = Pick<DesiredRollout, "software" | "configuration">;

/** What decides which of them a node gets. */
type NodeOfPool = Pick<RolloutNode, "controlPlane" | "pool" | "renewal" | "updateRequest">;

/** Returns the desired versions of everything but Kubernetes for a node. */
function otherSoftware(
  { software, configuration }: DesiredSoftware,
  { controlPlane, pool, renewal, updateRequest }: NodeOfPool,
): Record<string, string> {
  if (configuration === undefined && renewal === undefined && updateRequest === undefined) return software;
  return {
    ...software,
    ...(configuration
      ? { [CONFIGURATION]: versionFor(configuration, memberOf(controlPlane ? CONTROL_PLANE_GROUP : pool)) }
      : {}),
    ...(renewal === undefined ? {} : { [CERTIFICATES]: renewal }),
    ...(updateRequest === undefined ? {} : { [OS_UPDATES]: updateRequest }),
  };
}

/** Returns the desired version of every software for a node at this Kubernetes version, to be written in one write. */
export function desiredSoftware(
  desired: DesiredSoftware,
  version: string,
  node: NodeOfPool,
): Record<string, string> {
  const kubernetes = Object.fromEntries(KUBERNETES_SOFTWARE.map((name) => [name, version]));
  return { ...kubernetes, ...otherSoftware(desired, node) };
}

// before its first rollout a cluster has no desired versions, and that is not a difference
const differs = (found: string | undefined, wanted: string) => found !== undefined && found !== wanted;

/** Returns whether a node differs from its desired state (seed 004: desired, current or needed version differ). */
export function isDue(node: RolloutNode, desired: DesiredSoftware, version: string): boolean {
  return (
    isKubernetesDue(node, version) ||
    Object.entries(otherSoftware(desired, node)).some(
      ([name, wanted]) => currentOf(node, name) !== wanted || differs(node.desired[name], wanted),
    )
  );
}

/** Returns whether a node's programs of Kubernetes differ from a version. */
export function isKubernetesDue({ kubeletVersion, desired, current }: RolloutNode, version: string): boolean {
  return (
    kubeletVersion !== version ||
    KUBERNETES_SOFTWARE.some((name) => differs(desired[name], version) || differs(current[name], version))
  );
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
  /** How many unreachable machines a run may leave out and still succeed; absent for none. */
  unreachable?: UnreachableLimit;
  /** Pause between the end of one node and the beginning of the next. */
  soakSeconds: number;
  gate?: RolloutGate;
  /** A duration or a time of day, see stop-after.ts. */
  stopAfter?: string;
  /** Time limit for the node agent's work on one node. */
  nodeTimeoutSeconds: number;
  software: { containerd?: string; osPackages?: string };
  /** Which updates of the operating system roll out; absent for none. */
  osUpdates?: UpdateSettings;
  /** What happens to a node on which a change fails; absent for back, except from a version of Kubernetes. */
  onFailure?: OnFailure;
  /** Whether nodes are drained for another patch version of Kubernetes; absent for yes. */
  drain?: { patchReleases: boolean };
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
  settings: RolloutSettings & Pick<DesiredRollout, "leavingLater" | "configuration"> & { repairs?: boolean },
  clusterVersion?: string,
): DesiredRollout {
  const groups = new Set([CONTROL_PLANE_GROUP, ...machines.map(({ group }) => group)]);
  return {
    version,
    software: { ...furtherSoftware(settings), ...(settings.repairs ? { [DRIFT]: NO_DRIFT } : {}) },
    ...(settings.configuration === undefined ? {} : { configuration: settings.configuration }),
    intermediates: settings.intermediateVersions,
    ...(clusterVersion === undefined ? {} : { clusterVersion }),
    pools: [...groups].map((name) => ({
      name,
      machines: machines.filter(({ group }) => group === name).map((machine) => machine.name),
      maxUnavailable: settings.pools[name]?.maxUnavailable ?? settings.maxUnavailable,
      paused: settings.pools[name]?.paused ?? false,
    })),
    pausedNodes: settings.pausedNodes,
    ...(settings.leavingLater === undefined ? {} : { leavingLater: settings.leavingLater }),
    ...(settings.drain?.patchReleases === false ? { keepsPods: true } : {}),
  };
}

/** Returns how many nodes of a pool may be away at once. Percentages are rounded down, but never below one. */
export function maxUnavailableCount(value: RolloutPool["maxUnavailable"], size: number): number {
  const count = typeof value === "number" ? value : (size * Number(value.slice(0, -1))) / 100;
  return Math.max(1, Math.floor(count) || 0);
}

/** The change of one node to its next version, from opening its change window to closing it. */
export interface RolloutStep {
  node: string;
  pool: string;
  controlPlane: boolean;
  /** Number of the rollout's version, from 1. A pass ends on every node before the next one begins. */
  pass: number;
  /** Number of the wave; the nodes of one wave are away at the same time. */
  wave: number;
  /** Current version of the kubelet. */
  from: string;
  /** Desired Kubernetes version. */
  to: string;
  how: "kubeadm upgrade apply" | "kubeadm upgrade node" | "software";
  /** What changes; empty when only the change window has to be closed. */
  software: { name: string; from: string; to: string }[];
  /** Whether the node is drained for it. */
  drains: boolean;
  /** Whether it is cordoned and keeps its pods; absent otherwise. */
  keepsPods?: true;
  /** The files that others changed and that are put back; absent for none. */
  repairs?: string;
  /** What asks the agent to renew certificates, how many, and when the first of them ends; absent for none. */
  renewal?: string;
  renews?: { count: number; ends: string };
  /** What asks the agent for updates of the operating system, and what they are; absent for none. */
  updateRequest?: string;
  updates?: PendingUpdates;
  /** Its change window was found open: an earlier run began it. */
  resumed: boolean;
  /** Requests of an earlier run to take back, although the node reports what is desired; absent for none. */
  recalled?: RecalledRequest[];
  /** It was already cordoned before the rollout, so it stays cordoned; absent otherwise. */
  staysCordoned?: true;
}

/** Returns the step that brings this node to a version. `pass` and `wave` are 1. */
export function stepTo(node: RolloutNode, pool: string, desired: DesiredRollout, to: string): RolloutStep {
  const all = desiredSoftware(desired, to, node);
  const software = Object.entries(all)
    .map(([name, wanted]) => ({ name, from: currentOf(node, name), to: wanted }))
    .filter(({ from, to: wanted }) => from !== wanted);
  const recalled = node.changesAllowed ? recalledRequests(node, all) : [];
  const kubernetes = software.some(({ name }) => isKubernetes(name));
  const isPatch = kubernetes && minorsBetween(node.kubeletVersion, to) === 0;
  const draining = software.filter((change) => isDraining(change, node));
  const keepsPods = desired.keepsPods === true && isPatch && draining.every(({ name }) => isKubernetes(name));
  return {
    node: node.name,
    pool,
    controlPlane: node.controlPlane,
    pass: 1,
    wave: 1,
    from: node.kubeletVersion,
    to,
    how: kubernetes ? kubeadmCommand(node, desired, to) : "software",
    software,
    drains: (draining.length > 0 && !keepsPods) || (recalled.length > 0 && !node.unschedulable),
    ...(keepsPods ? { keepsPods } : {}),
    ...(node.drift && software.some(({ name }) => name === DRIFT) ? { repairs: namedFiles(node.drift) } : {}),
    ...(node.renewal === undefined ? {} : { renewal: node.renewal }),
    ...renewed(node, software),
    ...(node.updateRequest === undefined ? {} : { updateRequest: node.updateRequest }),
    ...updated(node, software),
    resumed: node.changesAllowed,
    ...(recalled.length > 0 ? { recalled } : {}),
    ...(staysCordoned(node) ? { staysCordoned: true } : {}),
  };
}

/** Returns the certificates that a step renews; empty for none. */
function renewed(
  { certificates }: RolloutNode,
  software: RolloutStep["software"],
): Pick<RolloutStep, "renews"> {
  const ends = certificates === undefined ? [] : renewableEnds(certificates);
  const first = firstEnd(ends);
  if (first === undefined || !software.some(({ name }) => name === CERTIFICATES)) return {};
  return { renews: { count: ends.length, ends: first } };
}

/** Returns the updates that a step installs; empty for none. */
function updated({ updates }: RolloutNode, software: RolloutStep["software"]): Pick<RolloutStep, "updates"> {
  if (updates === undefined || "unread" in updates) return {};
  return software.some(({ name }) => name === OS_UPDATES) ? { updates } : {};
}

/** Returns whether a change of one software takes the pods from the node. */
function isDraining({ name, from, to }: RolloutStep["software"][number], { drift }: RolloutNode): boolean {
  if (name === CERTIFICATES) return false;
  if (name === CONFIGURATION) return drainsFor(from, to);
  return name !== DRIFT || drift === undefined || drainsForRepair(drift);
}

/**
 * Returns whether a node was cordoned before the rollout, which itself cordons nodes with an open change window, and
 * that a person has not uncordoned since.
 */
export function staysCordoned(node: RolloutNode): boolean {
  return node.unschedulable && (node.cordonedBefore || !node.changesAllowed);
}

/** Returns `apply` for the node that first brings the cluster's own configuration to a version, `node` for others. */
function kubeadmCommand(
  node: RolloutNode,
  { clusterVersion }: DesiredRollout,
  to: string,
): RolloutStep["how"] {
  const first =
    clusterVersion === undefined || (clusterVersion !== to && minorsBetween(clusterVersion, to) >= 0);
  return node.controlPlane && first ? "kubeadm upgrade apply" : "kubeadm upgrade node";
}

export const isKubernetes = (name: string) => (KUBERNETES_SOFTWARE as readonly string[]).includes(name);

/** Returns the version that a node has of a software; "unknown" when it reports none. */
export function currentOf({ current, kubeletVersion }: RolloutNode, name: string): string {
  if (name === "kubelet") return kubeletVersion;
  if (name === DRIFT) return current[name] ?? NO_DRIFT;
  return current[name] ?? (isKubernetes(name) ? kubeletVersion : "unknown");
}

/**
 * Returns why a rollout can't take these steps, or undefined. The node agents have staged only the desired version
 * and the configuration's intermediate versions; a step to any other would wait for an agent that refuses it.
 */
export function refuseUnstaged(
  steps: readonly RolloutStep[],
  { version, intermediates }: Pick<DesiredRollout, "version" | "intermediates">,
): string | undefined {
  const unstaged = [...new Set(steps.map(({ to }) => to))].filter(
    (to) => to !== version && !intermediates.includes(to),
  );
  if (unstaged.length === 0) return undefined;
  return (
    `the way to ${version} leads over ${unstaged.join(", ")}, which the nodes do not have at hand: ` +
    `list it under rollout.intermediateVersions`
  );
}
