import type * as pulumi from "@pulumi/pulumi";
import { DynamicResource } from "../../../lib/pulumi/dynamic-resource";

export interface NodeAgentsArgs {
  specification: pulumi.Input<pulumi.Inputs>;
  /** Every machine of the cluster; each runs an agent. */
  machines: pulumi.Input<pulumi.Inputs[]>;
  /** Pattern of the annotation keys, which contains `[software]`. */
  annotations: string;
  /** Versions that the agents can choose from: StagedVersions of providers/kubeadm/machine/node-agent. */
  staged: pulumi.Inputs;
  /** Needs permission to read the Nodes. */
  kubeconfig: pulumi.Input<string>;
  jumpHost?: pulumi.Input<pulumi.Inputs>;
  credentials: pulumi.Input<pulumi.Inputs>;
  timeouts: pulumi.Input<pulumi.Inputs>;
}

/**
 * The agent on every node, and the versions staged there. The agent installs nothing by itself: it follows the
 * annotations that a rollout writes, and uses only what is staged. It is a resource of its own, so that clusters which
 * are older than the agent get it, too.
 */
export class NodeAgents extends DynamicResource {
  constructor(name: string, args: NodeAgentsArgs, opts?: pulumi.CustomResourceOptions) {
    super("kubeadm/NodeAgents", name, { ...args }, ["pending"], {
      ...opts,
      additionalSecretOutputs: ["kubeconfig"],
    });
  }
}
