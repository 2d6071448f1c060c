import type * as pulumi from "@pulumi/pulumi";
import { DynamicResource, type ResourceArgs } from "../../../lib/pulumi/dynamic-resource";
import { stackName } from "../../../lib/pulumi/stack";
import type { Counts } from "../plan/observed";
import type { PoolInputs, PoolNode, PoolOutputs } from "./pool-inputs";

/** Waits until a MachinePool has its replica count: every node registered and Ready, in the workload cluster too. */
export class MachinePoolReady extends DynamicResource<PoolOutputs> {
  declare readonly nodes: pulumi.Output<PoolNode[]>;
  declare readonly phase: pulumi.Output<string>;
  declare readonly counts: pulumi.Output<Counts>;

  constructor(name: string, args: ResourceArgs<PoolInputs, "stack">, opts?: pulumi.CustomResourceOptions) {
    super(
      "machine-pool/MachinePoolReady",
      name,
      { ...args, stack: stackName() },
      {
        outputs: ["nodes", "phase", "counts", "ready", "uid"],
        secrets: ["kubeconfig", "workloadKubeconfig"],
      },
      opts,
    );
  }
}
