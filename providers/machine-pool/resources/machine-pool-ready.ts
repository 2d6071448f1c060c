import * as pulumi from "@pulumi/pulumi";
import type { Counts } from "../plan/observed";
import { DynamicResource } from "../../../lib/pulumi/dynamic-resource";
import type { PoolNode, PoolTemplate, StageTimeouts } from "./pool-inputs";

export interface MachinePoolReadyArgs {
  /** Kubeconfig of the management cluster; secret. */
  kubeconfig: pulumi.Input<string>;
  /** Kubeconfig of the workload cluster; default: from the Secret <cluster>-kubeconfig on the management cluster. */
  workloadKubeconfig?: pulumi.Input<string>;
  apiVersion: string;
  namespace: pulumi.Input<string>;
  name: pulumi.Input<string>;
  /** Name of the pool's Cluster. */
  cluster: pulumi.Input<string>;
  /** Default: the value of the pool's spec, which an autoscaler sets. */
  replicas?: pulumi.Input<number>;
  /** Desired version of the nodes' kubelets; default: any. */
  version?: pulumi.Input<string>;
  /** The template of the machines; a new one rolls them. */
  template: pulumi.Input<PoolTemplate>;
  timeouts: StageTimeouts;
}

/** Waits until a MachinePool has its replica count: every node registered and Ready, in the workload cluster too. */
export class MachinePoolReady extends DynamicResource {
  /** Nodes of the pool, by name. */
  declare readonly nodes: pulumi.Output<PoolNode[]>;
  declare readonly phase: pulumi.Output<string>;
  declare readonly counts: pulumi.Output<Counts>;

  constructor(name: string, args: MachinePoolReadyArgs, opts?: pulumi.CustomResourceOptions) {
    const stack = `${pulumi.getProject()}/${pulumi.getStack()}`;
    super(
      "machine-pool/MachinePoolReady",
      name,
      { ...args, stack },
      ["nodes", "phase", "counts", "ready", "uid"],
      { ...opts, additionalSecretOutputs: ["kubeconfig", "workloadKubeconfig"] },
    );
  }
}
