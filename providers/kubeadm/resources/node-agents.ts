import type * as pulumi from "@pulumi/pulumi";
import { DynamicResource, type ResourceArgs } from "../../../lib/pulumi/dynamic-resource";
import type { StagedVersions } from "../plan/node-agents";
import type { ClusterInputs, Machine } from "./inputs";

export interface NodeAgentsInputs extends ClusterInputs {
  /** Every machine of the cluster; each runs an agent. */
  machines: Machine[];
  /** Pattern of the annotation keys, which contains `[software]`. */
  annotations: string;
  /** Versions that the agents can choose from. */
  staged: StagedVersions;
  /** Secret, with permission to read the Nodes; absent in state of older releases. */
  kubeconfig?: string;
  /** Set by check. */
  agent: string;
  steps?: string[];
  /** Set by check: unreachable workers that have work to do; absent in state of older releases. */
  leftOut?: string[];
}

export interface NodeAgentsOutputs extends NodeAgentsInputs {
  /** Machines that a run did not reach, or whose agent could not be installed. */
  pending: string[];
}

/**
 * The agent on every node, and the versions staged there. The agent installs nothing by itself: it follows the
 * annotations that a rollout writes, and uses only what is staged. It is a resource of its own, so that clusters which
 * are older than the agent get it, too.
 */
export class NodeAgents extends DynamicResource<NodeAgentsOutputs> {
  constructor(
    name: string,
    args: ResourceArgs<NodeAgentsInputs, "agent" | "leftOut">,
    opts?: pulumi.CustomResourceOptions,
  ) {
    super("kubeadm/NodeAgents", name, args, { outputs: ["pending"], secrets: ["kubeconfig"] }, opts);
  }
}
