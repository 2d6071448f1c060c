import { KUBERNETES_SOFTWARE } from "./annotations";
import type { RolloutNode } from "./observed";
import { minorsBetween } from "./version";
import { desiredSoftware, type DesiredRollout } from "./desired";

/** One node's way to its next version, from opening its change window to closing it. */
export interface RolloutStep {
  node: string;
  pool: string;
  controlPlane: boolean;
  /** which of the rollout's versions this is, from 1; a pass ends on every node before the next begins */
  pass: number;
  /** nodes of one wave are away at the same time */
  wave: number;
  /** the kubelet's version now */
  from: string;
  /** the Kubernetes version that it is to have */
  to: string;
  how: "kubeadm upgrade apply" | "kubeadm upgrade node" | "software";
  /** what changes; empty when only the change window is to be closed */
  software: { name: string; from: string; to: string }[];
  /** found with its change window open: an earlier run began it */
  resumed: boolean;
  /** somebody else had cordoned it, so it is left so; absent otherwise */
  staysCordoned?: true;
}

/** The step that takes this node to a version. `pass` and `wave` are 1. */
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

/** Whether somebody had cordoned a node before the rollout came: an open one is cordoned by the rollout itself. */
export function staysCordoned(node: RolloutNode): boolean {
  return node.cordonedBefore || (node.unschedulable && !node.changesAllowed);
}

/** `apply` belongs to whoever first brings the cluster's own configuration to a version, `node` to all others. */
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

/** One line of a preview: "cp-1 1.35.4 → 1.36.3 (cordon, drain, kubeadm upgrade apply, uncordon)". */
export function describeRolloutStep(step: RolloutStep): string {
  const further = step.software.filter(({ name }) => !isKubernetes(name));
  const versions = step.from === step.to ? step.to : `${step.from} → ${step.to}`;
  const changes = further.map(({ name, from, to }) => `${name} ${from} → ${to}`);
  const head = [`${step.node} ${versions}`, ...changes].join(", ");
  const begun = step.resumed ? "begun by an earlier run: " : "";
  const empty = step.staysCordoned ? "drain" : "cordon, drain";
  const end = step.staysCordoned ? "left cordoned" : "uncordon";
  if (step.software.length === 0) {
    return `${head} (${begun}${step.resumed ? end : `${empty}, desired versions written, ${end}`})`;
  }
  const work = step.how === "software" ? "the node agent changes it" : step.how;
  return `${head} (${begun}${empty}, ${work}, ${end})`;
}
