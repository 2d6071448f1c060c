import type { JumpHost, Machine, SshCredentials } from "../plan/machine";
import type { ClusterSpecification } from "../plan/specification";
import type { Ownership } from "../plan/membership/nodes";
import type { RolloutSettings } from "../plan/rollout/desired";

/** Time limits for each kind of work, in seconds. */
export interface Timeouts {
  /** Time limit for a machine to answer SSH. */
  ssh: number;
  /** Time limit of one connection attempt; absent in state of older releases. */
  dial?: number;
  prepare: number;
  init: number;
  join: number;
  ready: number;
}

/** Options for draining nodes before they leave. */
export interface DrainOptions {
  timeoutSeconds: number;
  deleteEmptyDirData: boolean;
  /** Whether pods without a controller may be deleted for good. */
  force: boolean;
}

/** Inputs of every resource of a kubeadm cluster, with which its handlers reach the machines. */
export interface ClusterInputs {
  __provider: string;
  specification: ClusterSpecification;
  /** "project/stack", for leases, the history and the API server's log; absent in state of older releases. */
  stack?: string;
  jumpHost?: JumpHost;
  /** Always secret. */
  credentials: SshCredentials;
  timeouts: Timeouts;
}

export type { JumpHost, Machine, SshCredentials };

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

/** Inputs of a NodeRollout; the specification's `version` is the desired version of every node. */
export interface NodeRolloutInputs extends ClusterInputs {
  /** Every machine of the cluster, in rollout order within each group. */
  machines: Machine[];
  rollout: RolloutSettings;
  /** Secret. */
  kubeconfig: string;
  drain: DrainOptions;
  /** Set by check. */
  steps?: string[];
  /** Set by check: workers that the preview left out; absent in state of older releases. */
  leftOut?: string[];
}

export interface NodeRolloutOutputs extends NodeRolloutInputs {
  /** The members of the cluster after the rollout. */
  nodes: NodeOutput[];
  /** The version of the cluster itself, as stored by kubeadm. */
  version: string;
}

/** Returns the name of the resource in messages. */
export function nodeRolloutName(inputs: Pick<NodeRolloutInputs, "specification">): string {
  return `NodeRollout ${inputs.specification.name}`;
}
