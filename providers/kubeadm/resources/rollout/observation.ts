import type { KubernetesClient } from "../../../../lib/kubernetes";
import { observeRolloutNode, type NodeParts, type RolloutNode } from "../../plan/rollout/observed";
import { desiredRollout, type DesiredRollout } from "../../plan/rollout/desired";
import { unreachedMachines } from "../machines-session";
import { clusterVersion } from "../kubeadm-config";
import type { NodeOutput, NodeRolloutInputs } from "../inputs";
import { nodeOutputs, observeNode, type NodeObject } from "../observed-nodes";

/** The cluster as observed for a rollout, and the desired state. Needs two calls. */
export interface Observation {
  nodes: RolloutNode[];
  desired: DesiredRollout;
  /** Workers to leave out regardless of their Nodes: the preview left them out, or SSH did not reach them. */
  unreached: string[];
  /** The members, for the stack's outputs. */
  outputs: NodeOutput[];
}

export async function observe(kubernetes: KubernetesClient, inputs: NodeRolloutInputs): Promise<Observation> {
  const [objects, version] = await Promise.all([kubernetes.listNodes(), clusterVersion(kubernetes)]);
  const { specification, machines, rollout } = inputs;
  return {
    nodes: objects.map((node) => observeRolloutNode(node as NodeParts, rollout.annotations)),
    desired: desiredRollout(specification.version, machines, rollout, version),
    unreached: [...(inputs.leftOut ?? []), ...unreachedMachines(specification.name)],
    outputs: nodeOutputs(
      machines,
      objects.map((node) => observeNode(node as NodeObject)),
    ),
  };
}
