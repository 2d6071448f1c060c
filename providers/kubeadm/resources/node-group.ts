import type * as pulumi from "@pulumi/pulumi";
import { DynamicResource, type ResourceArgs } from "../../../lib/pulumi/dynamic-resource";
import type { NodeGroupInputs, NodeGroupOutputs, NodeOutput } from "./inputs";

/**
 * The membership of one node group. Control planes join one at a time, workers in parallel. Nodes that leave are
 * cordoned, drained, removed from etcd, reset and deleted, highest index first. The input `steps` lists what will
 * happen, so that `pulumi preview --diff` prints it.
 */
export class NodeGroup extends DynamicResource<NodeGroupOutputs> {
  declare readonly nodes: pulumi.Output<NodeOutput[]>;
  declare readonly steps: pulumi.Output<string[]>;

  constructor(
    name: string,
    args: ResourceArgs<NodeGroupInputs, "owned" | "leaving">,
    opts?: pulumi.CustomResourceOptions,
  ) {
    super("kubeadm/NodeGroup", name, args, { outputs: ["nodes", "members"], secrets: ["kubeconfig"] }, opts);
  }
}
