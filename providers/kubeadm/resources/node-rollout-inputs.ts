import type { Machine } from "../plan/machine";
import type { RolloutSettings } from "../plan/rollout/desired";
import type { ClusterInputs, DrainOptions } from "./inputs";
import type { NodeOutput } from "./node-group-inputs";

/** Inputs of a NodeRollout; the specification's `version` is the desired version of every node. */
export interface NodeRolloutInputs extends ClusterInputs {
  /** Every machine of the cluster, in rollout order within each group. */
  machines: Machine[];
  rollout: RolloutSettings;
  /** Secret. */
  kubeconfig: string;
  drain: DrainOptions;
  /** Set by check. */
  steps?: string[];
  /** Set by check: workers that the preview left out; absent in state of older releases. */
  leftOut?: string[];
}

export interface NodeRolloutOutputs extends NodeRolloutInputs {
  /** The members of the cluster after the rollout. */
  nodes: NodeOutput[];
  /** The version of the cluster itself, as stored by kubeadm. */
  version: string;
}

/** Returns the name of the resource in messages. */
export function nodeRolloutName(inputs: Pick<NodeRolloutInputs, "specification">): string {
  return `NodeRollout ${inputs.specification.name}`;
}
