import type * as pulumi from "@pulumi/pulumi";
import { DynamicResource } from "../../../lib/pulumi/dynamic-resource";

export interface NodeAgentsArgs {
  specification: pulumi.Input<pulumi.Inputs>;
  /** Every machine of the cluster; each has an agent. */
  machines: pulumi.Input<pulumi.Inputs[]>;
  /** Annotation keys, with `[software]` in it. */
  annotations: string;
  /** What the agents may choose from: StagedVersions of providers/kubeadm/machine/node-agent. */
  staged: pulumi.Inputs;
  /** Of whoever may look at the Nodes. */
  kubeconfig: pulumi.Input<string>;
  jumpHost?: pulumi.Input<pulumi.Inputs>;
  credentials: pulumi.Input<pulumi.Inputs>;
  timeouts: pulumi.Input<pulumi.Inputs>;
}

/**
 * The agent on every node, and the versions staged there. It installs nothing by itself: it obeys the
 * annotations that a rollout writes, and takes only what is staged. Its own resource, so that clusters that were
 * made before there was an agent gain it.
 */
export class NodeAgents extends DynamicResource {
  constructor(name: string, args: NodeAgentsArgs, opts?: pulumi.CustomResourceOptions) {
    super("kubeadm/NodeAgents", name, { ...args }, ["pending"], {
      ...opts,
      additionalSecretOutputs: ["kubeconfig"],
    });
  }
}
