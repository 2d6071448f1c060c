import type * as pulumi from "@pulumi/pulumi";
import type { ResourceArgs } from "../../../lib/pulumi/dynamic-resource";
import type { ObjectInputs } from "./object-kind";
import { TumblebugObject } from "./tumblebug-object";

export interface TumblebugSpecInputs extends ObjectInputs {
  /** Name of the machine type in the cloud. */
  cloudSpec: string;
}

/** A machine type of a cloud that the server registers for a connection. */
export class TumblebugSpec extends TumblebugObject {
  constructor(name: string, args: ResourceArgs<TumblebugSpecInputs>, opts?: pulumi.CustomResourceOptions) {
    super("tumblebug/TumblebugSpec", name, args, {}, opts);
  }
}
