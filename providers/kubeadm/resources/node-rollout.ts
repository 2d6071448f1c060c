import type * as pulumi from "@pulumi/pulumi";
import { DynamicResource, type ResourceArgs } from "../../../lib/pulumi/dynamic-resource";
import type { NodeOutput, NodeRolloutInputs, NodeRolloutOutputs } from "./inputs";

/**
 * The versions of a running cluster: control planes roll one at a time, then the worker pools, by the annotations that
 * the node agents follow. The input `steps` lists what will happen on each node, so that `pulumi preview --diff` prints
 * it.
 */
export class NodeRollout extends DynamicResource<NodeRolloutOutputs> {
  declare readonly nodes: pulumi.Output<NodeOutput[]>;
  declare readonly version: pulumi.Output<string>;
  declare readonly steps: pulumi.Output<string[]>;

  constructor(
    name: string,
    args: ResourceArgs<NodeRolloutInputs, "leftOut">,
    opts?: pulumi.CustomResourceOptions,
  ) {
    super(
      "kubeadm/NodeRollout",
      name,
      args,
      { outputs: ["nodes", "version"], secrets: ["kubeconfig"] },
      opts,
    );
  }
}
