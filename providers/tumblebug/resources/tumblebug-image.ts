import type * as pulumi from "@pulumi/pulumi";
import type { ResourceArgs } from "../../../lib/pulumi/dynamic-resource";
import type { ObjectInputs } from "./object-kind";
import { TumblebugObject } from "./tumblebug-object";

export interface TumblebugImageInputs extends ObjectInputs {
  /** Name of the image in the cloud. */
  cloudImage: string;
}

/** An image of a cloud that the server registers for a connection. */
export class TumblebugImage extends TumblebugObject {
  constructor(name: string, args: ResourceArgs<TumblebugImageInputs>, opts?: pulumi.CustomResourceOptions) {
    super("tumblebug/TumblebugImage", name, args, {}, opts);
  }
}
