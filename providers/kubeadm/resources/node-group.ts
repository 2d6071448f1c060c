import type * as pulumi from "@pulumi/pulumi";
import { DynamicResource } from "../../../lib/pulumi/dynamic-resource";

/** A member of the cluster in the stack's outputs. */
export interface NodeOutput {
  name: string;
  role: "control-plane" | "worker";
  version: string;
  address: string;
}

export interface NodeGroupArgs {
  specification: pulumi.Input<pulumi.Inputs>;
  /** "control-plane", or the name of a worker pool. */
  group: string;
  /** The machines of this group. A change joins and removes machines. */
  machines: pulumi.Input<pulumi.Inputs[]>;
  /** All control planes; one that is ready provides what a join needs. */
  controlPlanes: pulumi.Input<pulumi.Inputs[]>;
  /** Names of dead machines that are no longer in the configuration. */
  lost: string[];
  /** Names of the machines of all other groups, whose Nodes this group ignores. */
  elsewhere: string[];
  /**
   * Names of machines by configured worker pool, so that removed pools are found; only for the control planes' group.
   */
  pools?: Record<string, string[]>;
  kubeconfig: pulumi.Input<string>;
  drain: pulumi.Input<pulumi.Inputs>;
  jumpHost?: pulumi.Input<pulumi.Inputs>;
  credentials: pulumi.Input<pulumi.Inputs>;
  timeouts: pulumi.Input<pulumi.Inputs>;
}

/**
 * The membership of one node group. Control planes join one at a time, workers in parallel. Nodes that leave are
 * cordoned, drained, removed from etcd, reset and deleted, highest index first. The input `steps` lists what will
 * happen, so that `pulumi preview --diff` prints it.
 */
export class NodeGroup extends DynamicResource {
  declare readonly nodes: pulumi.Output<NodeOutput[]>;
  declare readonly steps: pulumi.Output<string[]>;

  constructor(name: string, args: NodeGroupArgs, opts?: pulumi.CustomResourceOptions) {
    super("kubeadm/NodeGroup", name, { ...args }, ["nodes", "members"], {
      ...opts,
      additionalSecretOutputs: ["kubeconfig"],
    });
  }
}
