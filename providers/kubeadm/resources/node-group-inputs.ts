import type { Machine } from "../plan/machine";
import type { Ownership } from "../plan/membership/ownership";
import type { ClusterInputs, DrainOptions } from "./inputs";
import type { NodeOutput } from "./node-group";

/** Inputs of a NodeGroup as its handlers receive them. */
export interface NodeGroupInputs extends ClusterInputs {
  group: string;
  machines: Machine[];
  controlPlanes: Machine[];
  lost: string[];
  /** Names of the machines of all other groups; absent in state of older releases. */
  elsewhere?: string[];
  /** Set by check; absent in state of older releases. */
  owned?: Ownership;
  /** Every configured worker pool; only for the control planes' group. Absent in state of older releases. */
  pools?: Record<string, string[]>;
  /** Set by check: pools that are no longer configured, and have Nodes. */
  leaving?: Record<string, string[]>;
  /** Secret. */
  kubeconfig: string;
  drain: DrainOptions;
  /** Set by check. */
  steps?: string[];
}

export interface NodeGroupOutputs extends NodeGroupInputs {
  /** Machines that have joined this group or have not completely left it, with how to reach them. */
  members: Machine[];
  nodes: NodeOutput[];
}

/** Returns the name of the resource in messages. */
export function nodeGroupName(inputs: Pick<NodeGroupInputs, "group">): string {
  return `NodeGroup ${inputs.group}`;
}
