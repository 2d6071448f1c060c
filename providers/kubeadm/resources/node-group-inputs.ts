import type { Machine } from "../plan/machine";
import type { Ownership } from "../plan/membership/nodes";
import type { ClusterInputs, DrainOptions } from "./inputs";

/** A member of the cluster in the stack's outputs. */
export interface NodeOutput {
  name: string;
  role: "control-plane" | "worker";
  version: string;
  address: string;
}

export interface NodeGroupInputs extends ClusterInputs {
  /** "control-plane", or the name of a worker pool. */
  group: string;
  /** The machines of this group. A change joins and removes machines. */
  machines: Machine[];
  /** All control planes; one that is ready provides what a join needs. */
  controlPlanes: Machine[];
  /** Names of dead machines that are no longer in the configuration. */
  lost: string[];
  /**
   * Names of the machines of all other groups, whose Nodes this group ignores; absent in state of older releases.
   */
  elsewhere?: string[];
  /** Set by check; absent in state of older releases. */
  owned?: Ownership;
  /**
   * Names of machines by configured worker pool, so that removed pools are found; only for the control planes' group.
   * Absent in state of older releases.
   */
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
