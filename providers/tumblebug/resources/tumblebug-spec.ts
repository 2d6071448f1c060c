import type * as pulumi from "@pulumi/pulumi";
import { DynamicResource } from "../../../lib/pulumi/dynamic-resource";
import { OBJECT_OUTPUTS, withSecrets, type TumblebugObjectArgs } from "./tumblebug-object";

export interface TumblebugSpecArgs extends TumblebugObjectArgs {
  /** Name of the machine type in the cloud. */
  cloudSpec: string;
}

/** A machine type of a cloud that the server registers for a connection. */
export class TumblebugSpec extends DynamicResource {
  /** Name by which VMs refer to it. */
  declare readonly object: pulumi.Output<string>;

  constructor(name: string, args: TumblebugSpecArgs, opts?: pulumi.CustomResourceOptions) {
    super("tumblebug/TumblebugSpec", name, { ...args }, OBJECT_OUTPUTS, withSecrets(opts));
  }
}
