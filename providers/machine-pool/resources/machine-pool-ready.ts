import type * as pulumi from "@pulumi/pulumi";
import { DynamicResource, type ResourceArgs } from "../../../lib/pulumi/dynamic-resource";
import { stackName } from "../../../lib/pulumi/stack";
import type { Stage } from "../plan/evaluation";
import type { Counts } from "../plan/observed";
import type { OutdatedMachines, PoolTemplate } from "../plan/roll";

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
  /** Paths in the infrastructure object's specification whose change replaces no machine. */
  inPlaceFields?: string[];
  /** The machines that a change of the template has to replace; computed by the check, and kept until they are gone. */
  outdated?: OutdatedMachines[];
  /** Deadline of each stage, in seconds. */
  timeouts: Record<Stage, number>;
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

/** Waits until a MachinePool has its replica count: every node registered and Ready, in the workload cluster too. */
export class MachinePoolReady extends DynamicResource<PoolOutputs> {
  declare readonly nodes: pulumi.Output<PoolNode[]>;
  declare readonly phase: pulumi.Output<string>;
  declare readonly counts: pulumi.Output<Counts>;

  constructor(name: string, args: ResourceArgs<PoolInputs, "stack">, opts?: pulumi.CustomResourceOptions) {
    const outputs: (keyof PoolOutputs)[] = ["nodes", "phase", "counts", "ready", "uid"];
    const secrets: typeof outputs = ["kubeconfig", "workloadKubeconfig"];
    const all = { ...args, stack: stackName() };
    super("machine-pool/MachinePoolReady", name, all, { outputs, secrets }, opts);
  }
}
