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
  kubeconfig: string;
  workloadKubeconfig?: string;
  /** "project/stack" */
  stack: string;
  apiVersion: string;
  namespace: string;
  name: string;
  cluster: string;
  replicas?: number;
  version?: string;
  template: PoolTemplate;
  timeouts: StageTimeouts;
  steps?: string[];
}

export interface PoolOutputs extends PoolInputs {
  uid: string;
  ready: boolean;
  phase: string;
  counts: Counts;
  nodes: PoolNode[];
}
