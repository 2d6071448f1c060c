import type * as pulumi from "@pulumi/pulumi";
import { DynamicResource, type ResourceArgs } from "../../../lib/pulumi/dynamic-resource";
import type { MachineVm } from "../plan/machine-vm";
import type { McisInputs, McisOutputs } from "./tumblebug-mcis-inputs";

/**
 * The VMs of a cluster: an MCIS (`mcis`) or infra (`infra`). Creates missing VMs and replaces VMs that failed to
 * start. A surplus machine keeps its VM until it has left the cluster.
 */
export class TumblebugMcis extends DynamicResource<McisOutputs> {
  /** Machine → its VM. */
  declare readonly vms: pulumi.Output<Record<string, MachineVm>>;
  /** Machine → VM of unchanged machines; known in every preview. */
  declare readonly known: pulumi.Output<Record<string, MachineVm>>;
  /** Machine → VM of machines that are being removed; known in every preview. */
  declare readonly leaving: pulumi.Output<Record<string, string>>;

  constructor(
    name: string,
    args: ResourceArgs<McisInputs, "known" | "leaving">,
    opts?: pulumi.CustomResourceOptions,
  ) {
    const outputs: (keyof McisOutputs)[] = ["vms", "known", "leaving", "failure"];
    super("tumblebug/TumblebugMcis", name, args, { outputs, secrets: ["server"] }, opts);
  }
}
