import * as pulumi from "@pulumi/pulumi";
import type { Counts } from "../plan/observed";
import { DynamicResource } from "../../../lib/pulumi/dynamic-resource";
import type { PoolNode, PoolTemplate, StageTimeouts } from "./pool-inputs";

export interface MachinePoolReadyArgs {
  /** Of the management cluster; secret. */
  kubeconfig: pulumi.Input<string>;
  /** Of the workload cluster; when absent, from the Secret <cluster>-kubeconfig on the management cluster. */
  workloadKubeconfig?: pulumi.Input<string>;
  apiVersion: string;
  namespace: pulumi.Input<string>;
  name: pulumi.Input<string>;
  /** Name of the Cluster to which the pool belongs. */
  cluster: pulumi.Input<string>;
  /** When absent, whatever the pool's specification says: an autoscaler decides it. */
  replicas?: pulumi.Input<number>;
  /** Version that the nodes' kubelets are to have; when absent, any. */
  version?: pulumi.Input<string>;
  /** What the machines are made from: another one rolls them. */
  template: pulumi.Input<PoolTemplate>;
  timeouts: StageTimeouts;
}

/** A MachinePool brought to its replica count: every node registered and Ready, in the workload cluster too. */
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
