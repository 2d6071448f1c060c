import type * as pulumi from "@pulumi/pulumi";
import { DynamicResource } from "../../../lib/pulumi/dynamic-resource";
import { withSecrets } from "./tumblebug-object";

export interface TumblebugVmArgs {
  server: pulumi.Input<object>;
  namespace: string;
  infrastructure: string;
  /** Name of the machine in the cluster. */
  machine: string;
  /** Name of its VM on the server. */
  vm: pulumi.Input<string>;
  timeoutSeconds: number;
}

/**
 * The VM of one machine, which TumblebugMcis creates. Deleting this resource deletes the VM. The engine deletes
 * resources after all updates, and dependents first, so the node group, even one that is itself deleted, has already
 * drained the machine and deleted its Node. On destroy nothing is done here, because of `deletedWith` the MCIS.
 */
export class TumblebugVm extends DynamicResource {
  declare readonly vm: pulumi.Output<string>;

  constructor(name: string, args: TumblebugVmArgs, opts?: pulumi.CustomResourceOptions) {
    super("tumblebug/TumblebugVm", name, { ...args }, [], withSecrets(opts));
  }
}
