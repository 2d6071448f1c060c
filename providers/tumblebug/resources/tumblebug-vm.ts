import type * as pulumi from "@pulumi/pulumi";
import { DynamicResource, type ResourceArgs } from "../../../lib/pulumi/dynamic-resource";
import type { ServerInputs } from "./server";

export interface TumblebugVmInputs {
  server: ServerInputs;
  namespace: string;
  infrastructure: string;
  /** Name of the machine in the cluster. */
  machine: string;
  /** Name of its VM on the server. */
  vm: string;
  timeoutSeconds: number;
}

/**
 * The VM of one machine, which TumblebugMcis creates. Deleting this resource deletes the VM. The engine deletes
 * resources after all updates, and dependents first, so the node group, even one that is itself deleted, has already
 * drained the machine and deleted its Node. On destroy nothing is done here, because of `deletedWith` the MCIS.
 */
export class TumblebugVm extends DynamicResource<TumblebugVmInputs> {
  declare readonly vm: pulumi.Output<string>;

  constructor(name: string, args: ResourceArgs<TumblebugVmInputs>, opts?: pulumi.CustomResourceOptions) {
    super("tumblebug/TumblebugVm", name, args, { secrets: ["server"] }, opts);
  }
}
