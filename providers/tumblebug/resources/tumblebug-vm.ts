import type * as pulumi from "@pulumi/pulumi";
import { DynamicResource } from "../../../lib/pulumi/dynamic-resource";
import { withSecrets } from "./tumblebug-object";

export interface TumblebugVmArgs {
  server: pulumi.Input<object>;
  namespace: string;
  infrastructure: string;
  /** The machine, as the cluster knows it. */
  machine: string;
  /** The server's name of its VM. */
  vm: pulumi.Input<string>;
  timeoutSeconds: number;
}

/**
 * The VM of one machine, which the MCIS has made. Its delete is the VM's: the engine deletes after all updates, and what
 * depends on a resource before it, so a node group has drained the machine and deleted its Node by then, also one that
 * goes as a whole. On destroy it does nothing, with `deletedWith` the MCIS.
 */
export class TumblebugVm extends DynamicResource {
  declare readonly vm: pulumi.Output<string>;

  constructor(name: string, args: TumblebugVmArgs, opts?: pulumi.CustomResourceOptions) {
    super("tumblebug/TumblebugVm", name, { ...args }, [], withSecrets(opts));
  }
}
