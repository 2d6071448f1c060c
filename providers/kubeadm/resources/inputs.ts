import type { JumpHost, Machine, SshCredentials } from "../plan/machine";
import type { ClusterSpecification } from "../plan/specification";

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
