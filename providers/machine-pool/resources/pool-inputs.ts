import type { Stage } from "../plan/evaluation";
import type { Counts } from "../plan/observed";

/** Deadline of each stage, in seconds. */
export type StageTimeouts = Record<Stage, number>;

/** The template of a pool's machines. */
export interface PoolTemplate {
  /** kind and name of the infrastructure object; a change replaces the machines */
  infrastructure: string;
  /** all other values whose change rolls the machines */
  rest: unknown;
}

/** A node of a pool. */
export interface PoolNode {
  name: string;
  providerID: string;
  version: string;
}

export interface PoolInputs {
  /** Kubeconfig of the management cluster; secret. */
  kubeconfig: string;
  /** Kubeconfig of the workload cluster; default: from the Secret <cluster>-kubeconfig on the management cluster. */
  workloadKubeconfig?: string;
  /** "project/stack" */
  stack: string;
  apiVersion: string;
  namespace: string;
  name: string;
  /** Name of the pool's Cluster. */
  cluster: string;
  /** Default: the value of the pool's spec, which an autoscaler sets. */
  replicas?: number;
  /** Desired version of the nodes' kubelets; default: any. */
  version?: string;
  /** The template of the machines; a new one rolls them. */
  template: PoolTemplate;
  timeouts: StageTimeouts;
  steps?: string[];
}

export interface PoolOutputs extends PoolInputs {
  uid: string;
  ready: boolean;
  phase: string;
  counts: Counts;
  /** Nodes of the pool, by name. */
  nodes: PoolNode[];
}
