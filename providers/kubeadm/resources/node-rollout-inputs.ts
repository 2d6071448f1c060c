import type { Machine } from "../plan/machine";
import type { RolloutSettings } from "../plan/rollout/settings";
import type { ClusterInputs, DrainOptions } from "./inputs";
import type { NodeOutput } from "./node-group";

/** Inputs of a NodeRollout as its handlers receive them. */
export interface NodeRolloutInputs extends ClusterInputs {
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
  nodes: NodeOutput[];
  version: string;
}

/** Returns the name of the resource in messages. */
export function nodeRolloutName(inputs: Pick<NodeRolloutInputs, "specification">): string {
  return `NodeRollout ${inputs.specification.name}`;
}
