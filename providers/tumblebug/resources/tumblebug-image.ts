import type * as pulumi from "@pulumi/pulumi";
import { DynamicResource } from "../../../lib/pulumi/dynamic-resource";
import { OBJECT_OUTPUTS, withSecrets, type TumblebugObjectArgs } from "./tumblebug-object";

export interface TumblebugImageArgs extends TumblebugObjectArgs {
  /** Name of the image in the cloud. */
  cloudImage: string;
}

/** An image of a cloud that the server registers for a connection. */
export class TumblebugImage extends DynamicResource {
  /** Name by which VMs refer to it. */
  declare readonly object: pulumi.Output<string>;

  constructor(name: string, args: TumblebugImageArgs, opts?: pulumi.CustomResourceOptions) {
    super("tumblebug/TumblebugImage", name, { ...args }, OBJECT_OUTPUTS, withSecrets(opts));
  }
}
