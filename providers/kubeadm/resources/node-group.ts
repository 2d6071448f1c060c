import type * as pulumi from "@pulumi/pulumi";
import { DynamicResource } from "../../../lib/pulumi/dynamic-resource";

/** A member of the cluster, as stack outputs list it. */
export interface NodeOutput {
  name: string;
  role: "control-plane" | "worker";
  version: string;
  address: string;
}

export interface NodeGroupArgs {
  specification: pulumi.Input<pulumi.Inputs>;
  /** "control-plane", or a worker pool's name. */
  group: string;
  /** The machines of this group. Change: join and remove. */
  machines: pulumi.Input<pulumi.Inputs[]>;
  /** All control planes; one that lives is asked for what a join needs. */
  controlPlanes: pulumi.Input<pulumi.Inputs[]>;
  /** Machines that are dead and are no longer in the configuration. */
  lost: string[];
  /** Names of the machines of all other groups, whose Nodes are none of this group's business. */
  elsewhere: string[];
  /** Of the control planes' group: names of machines by configured worker pool, so that it sees which were removed. */
  pools?: Record<string, string[]>;
  kubeconfig: pulumi.Input<string>;
  drain: pulumi.Input<pulumi.Inputs>;
  jumpHost?: pulumi.Input<pulumi.Inputs>;
  credentials: pulumi.Input<pulumi.Inputs>;
  timeouts: pulumi.Input<pulumi.Inputs>;
}

/**
 * The membership of one node group: control planes one at a time, workers in parallel; what leaves is
 * cordoned, drained, taken out of etcd, reset and deleted, highest index first. What it will do is its input
 * `steps`, so `pulumi preview --diff` prints it.
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
