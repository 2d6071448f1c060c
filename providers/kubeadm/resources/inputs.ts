import type { JumpHost, Machine, SshCredentials } from "../plan/machine";
import type { ClusterSpecification } from "../plan/specification";

/** How long each kind of work may take, in seconds. */
export interface Timeouts {
  /** Until a machine answers SSH. */
  ssh: number;
  /** One attempt to connect; absent in state of older releases. */
  dial?: number;
  prepare: number;
  init: number;
  join: number;
  ready: number;
}

/** How nodes are emptied before they leave. */
export interface DrainOptions {
  timeoutSeconds: number;
  deleteEmptyDirData: boolean;
  /** Pods without a controller may be deleted for good. */
  force: boolean;
}

/** What every resource of a kubeadm cluster carries, so that its handlers can reach the machines. */
export interface ClusterInputs {
  __provider: string;
  specification: ClusterSpecification;
  /** "project/stack", for leases, the history and the API server's log; absent in state of older releases. */
  stack?: string;
  jumpHost?: JumpHost;
  /** Always a secret. */
  credentials: SshCredentials;
  timeouts: Timeouts;
}

export type { JumpHost, Machine, SshCredentials };
