import { KUBERNETES_SOFTWARE } from "./annotations";
import type { RolloutNode } from "./observed";
import { nodeRolloutSteps, type NodeRolloutStep } from "../steps";
import { minorsBetween } from "./versions";
import { desiredSoftware, type DesiredRollout } from "./desired";

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
  /** Its change window was found open: an earlier run began it. */
  resumed: boolean;
  /** It was already cordoned before the rollout, so it stays cordoned; absent otherwise. */
  staysCordoned?: true;
}

/** Returns the step that brings this node to a version. `pass` and `wave` are 1. */
export function stepTo(node: RolloutNode, pool: string, desired: DesiredRollout, to: string): RolloutStep {
  const software = Object.entries(desiredSoftware(desired, to)).flatMap(([name, wanted]) => {
    const from = currentOf(node, name);
    return from === wanted ? [] : [{ name, from, to: wanted }];
  });
  const kubernetes = software.some(({ name }) => isKubernetes(name));
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
    resumed: node.changesAllowed,
    ...(staysCordoned(node) ? { staysCordoned: true } : {}),
  };
}

/**
 * Returns whether a node was cordoned before the rollout. The rollout itself cordons nodes with an open change
 * window.
 */
export function staysCordoned(node: RolloutNode): boolean {
  return node.cordonedBefore || (node.unschedulable && !node.changesAllowed);
}

/**
 * Returns `apply` for the node that first brings the cluster's own configuration to a version, `node` for all
 * others.
 */
function kubeadmCommand(node: RolloutNode, desired: DesiredRollout, to: string): RolloutStep["how"] {
  const { clusterVersion } = desired;
  const first =
    clusterVersion === undefined || (clusterVersion !== to && minorsBetween(clusterVersion, to) >= 0);
  return node.controlPlane && first ? "kubeadm upgrade apply" : "kubeadm upgrade node";
}

function currentOf(node: RolloutNode, name: string): string {
  if (name === "kubelet") return node.kubeletVersion;
  return node.current[name] ?? (isKubernetes(name) ? node.kubeletVersion : "unknown");
}

function isKubernetes(name: string): boolean {
  return (KUBERNETES_SOFTWARE as readonly string[]).includes(name);
}

/** Returns a step as previews show it: "cp-1 1.35.4 → 1.36.3 (cordon, drain, kubeadm upgrade apply, uncordon)". */
export function previewStep(step: RolloutStep): NodeRolloutStep {
  const { node: machine, from, to, resumed } = step;
  const staysCordoned = step.staysCordoned ? { staysCordoned: true as const } : {};
  if (resumed && step.software.length === 0) return { kind: "finish", machine, to, ...staysCordoned };
  const software = step.software.filter(({ name }) => !isKubernetes(name));
  const work = step.how === "software" ? "the node agent changes it" : step.how;
  return {
    kind: "upgrade",
    machine,
    ...(from === to ? {} : { from }),
    to,
    ...(software.length > 0 ? { software } : {}),
    ...(resumed ? { resumed: true } : {}),
    how: step.software.length === 0 ? "desired versions written" : work,
    ...staysCordoned,
  };
}

/** Formats one line of a preview. */
export const describeRolloutStep = (step: RolloutStep): string => nodeRolloutSteps.format(previewStep(step));

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
