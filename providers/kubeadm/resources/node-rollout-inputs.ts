import type { Machine } from "../plan/machine";
import type { RolloutSettings } from "../plan/rollout/settings";
import type { ClusterInputs, DrainOptions } from "./inputs";
import type { NodeOutput } from "./node-group";

/** A NodeRollout's inputs as its handlers get them. */
export interface NodeRolloutInputs extends ClusterInputs {
  machines: Machine[];
  rollout: RolloutSettings;
  /** Secret. */
  kubeconfig: string;
  drain: DrainOptions;
  /** Made by check. */
  steps?: string[];
  /** Made by check: workers that the preview left out; absent in state of older releases. */
  leftOut?: string[];
}

export interface NodeRolloutOutputs extends NodeRolloutInputs {
  nodes: NodeOutput[];
  version: string;
}

/** The resource as people know it. */
export function nodeRolloutName(inputs: Pick<NodeRolloutInputs, "specification">): string {
  return `NodeRollout ${inputs.specification.name}`;
}
