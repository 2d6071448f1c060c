import type { Machine } from "../plan/machine";
import type { Ownership } from "../plan/membership/ownership";
import type { ClusterInputs, DrainOptions } from "./inputs";
import type { NodeOutput } from "./node-group";

/** A NodeGroup's inputs as its handlers get them. */
export interface NodeGroupInputs extends ClusterInputs {
  group: string;
  machines: Machine[];
  controlPlanes: Machine[];
  lost: string[];
  /** Names of the machines of all other groups; absent in state of older releases. */
  elsewhere?: string[];
  /** Made by check; absent in state of older releases. */
  owned?: Ownership;
  /** Of the control planes' group: every configured worker pool; absent in state of older releases. */
  pools?: Record<string, string[]>;
  /** Made by check: pools that are no longer configured, and have Nodes. */
  leaving?: Record<string, string[]>;
  /** Secret. */
  kubeconfig: string;
  drain: DrainOptions;
  /** Made by check. */
  steps?: string[];
}

export interface NodeGroupOutputs extends NodeGroupInputs {
  /** Machines that this group has joined or not quite let go, with how to reach them. */
  members: Machine[];
  nodes: NodeOutput[];
}

/** The resource as people know it. */
export function nodeGroupName(inputs: Pick<NodeGroupInputs, "group">): string {
  return `NodeGroup ${inputs.group}`;
}
