import type * as pulumi from "@pulumi/pulumi";
import { DynamicResource } from "../../../lib/pulumi/dynamic-resource";
import type { NodeOutput } from "./node-group";

export interface NodeRolloutArgs {
  /** Its `version` is what every node is to run. */
  specification: pulumi.Input<pulumi.Inputs>;
  /** Every machine of the cluster, in the order in which they roll within their group. */
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
 * The versions of a running cluster: control planes one at a time, then the worker pools, by the annotations that
 * the node agents obey. What it will do, node by node, is its input `steps`, so `pulumi preview --diff` prints it.
 */
export class NodeRollout extends DynamicResource {
  /** The members of the cluster as they are after the rollout. */
  declare readonly nodes: pulumi.Output<NodeOutput[]>;
  /** The version of the cluster itself, as kubeadm keeps it. */
  declare readonly version: pulumi.Output<string>;
  declare readonly steps: pulumi.Output<string[]>;

  constructor(name: string, args: NodeRolloutArgs, opts?: pulumi.CustomResourceOptions) {
    super("kubeadm/NodeRollout", name, { ...args }, ["nodes", "version"], {
      ...opts,
      additionalSecretOutputs: ["kubeconfig"],
    });
  }
}
