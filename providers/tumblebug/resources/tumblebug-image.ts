import type * as pulumi from "@pulumi/pulumi";
import { DynamicResource } from "../../../lib/pulumi/dynamic-resource";
import { OBJECT_OUTPUTS, withSecrets, type TumblebugObjectArgs } from "./tumblebug-object";

export interface TumblebugImageArgs extends TumblebugObjectArgs {
  /** By which the cloud knows it. */
  cloudImage: string;
}

/** An image of a cloud, as the server registers it for a connection. */
export class TumblebugImage extends DynamicResource {
  /** Name by which VMs refer to it. */
  declare readonly object: pulumi.Output<string>;

  constructor(name: string, args: TumblebugImageArgs, opts?: pulumi.CustomResourceOptions) {
    super("tumblebug/TumblebugImage", name, { ...args }, OBJECT_OUTPUTS, withSecrets(opts));
  }
}
