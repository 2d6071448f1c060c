import type * as pulumi from "@pulumi/pulumi";
import { DynamicResource } from "../../../lib/pulumi/dynamic-resource";
import type { NodeOutput } from "./node-group";

export interface NodeRolloutArgs {
  /** Its `version` is the desired version of every node. */
  specification: pulumi.Input<pulumi.Inputs>;
  /** Every machine of the cluster, in rollout order within each group. */
  machines: pulumi.Input<pulumi.Inputs[]>;
  /** RolloutSettings of providers/kubeadm/plan/rollout/settings.ts. */
  rollout: pulumi.Input<pulumi.Inputs>;
  kubeconfig: pulumi.Input<string>;
  drain: pulumi.Input<pulumi.Inputs>;
  jumpHost?: pulumi.Input<pulumi.Inputs>;
  credentials: pulumi.Input<pulumi.Inputs>;
  timeouts: pulumi.Input<pulumi.Inputs>;
}

/**
 * The versions of a running cluster: control planes roll one at a time, then the worker pools, by the annotations that
 * the node agents follow. The input `steps` lists what will happen on each node, so that `pulumi preview --diff` prints
 * it.
 */
export class NodeRollout extends DynamicResource {
  /** The members of the cluster after the rollout. */
  declare readonly nodes: pulumi.Output<NodeOutput[]>;
  /** The version of the cluster itself, as stored by kubeadm. */
  declare readonly version: pulumi.Output<string>;
  declare readonly steps: pulumi.Output<string[]>;

  constructor(name: string, args: NodeRolloutArgs, opts?: pulumi.CustomResourceOptions) {
    super("kubeadm/NodeRollout", name, { ...args }, ["nodes", "version"], {
      ...opts,
      additionalSecretOutputs: ["kubeconfig"],
    });
  }
}
