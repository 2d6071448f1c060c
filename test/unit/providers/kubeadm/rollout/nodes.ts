import { nodeAtRest, type RolloutNode } from "../../../../../providers/kubeadm/plan/rollout/observed";
import {
  desiredSoftware,
  type RolloutPool,
  type DesiredRollout,
} from "../../../../../providers/kubeadm/plan/rollout/desired";

/** A node as a completed rollout leaves it; "cp-1" is a control plane, "gpu-2" a worker of the pool gpu. */
export function nodeAt(name: string, version: string, over: Partial<RolloutNode> = {}): RolloutNode {
  const prefix = name.replace(/-\d+$/, "");
  const controlPlane = prefix === "cp";
  return {
    ...nodeAtRest({
      name,
      controlPlane,
      pool: controlPlane ? "control-plane" : prefix,
      kubeletVersion: version,
    }),
    current: desiredSoftware({ software: {} }, version, { controlPlane, pool: prefix }),
    ...over,
  };
}

/** The pools of these nodes, control planes first. */
export function poolsOf(
  nodes: readonly RolloutNode[],
  over: Record<string, Partial<RolloutPool>> = {},
): RolloutPool[] {
  const names = [...new Set(["control-plane", ...nodes.map(({ pool }) => pool)])];
  return names.map((name) => ({
    name,
    machines: nodes.filter(({ pool }) => pool === name).map((node) => node.name),
    maxUnavailable: 1,
    paused: false,
    ...over[name],
  }));
}

/** A desired rollout of these nodes, whose cluster has the highest control plane's version. */
export function desiredFor(
  nodes: readonly RolloutNode[],
  version: string,
  over: Partial<DesiredRollout> = {},
): DesiredRollout {
  return { version, software: {}, intermediates: [], pools: poolsOf(nodes), pausedNodes: [], ...over };
}
