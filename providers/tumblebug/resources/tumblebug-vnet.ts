import type * as pulumi from "@pulumi/pulumi";
import type { ResourceArgs } from "../../../lib/pulumi/dynamic-resource";
import type { ObjectInputs } from "./object-kind";
import { TumblebugObject } from "./tumblebug-object";

export interface TumblebugVNetInputs extends ObjectInputs {
  /** IPv4 CIDR block of the VNet and of its only subnet. */
  cidr: string;
  /** Whether the block is from the configuration; a changed default block does not change an existing VNet. */
  cidrWritten: boolean;
  subnet: string;
}

/** A VNet of a connection, with one subnet. */
export class TumblebugVNet extends TumblebugObject {
  /** Name of the subnet. */
  declare readonly subnet: pulumi.Output<string>;

  constructor(name: string, args: ResourceArgs<TumblebugVNetInputs>, opts?: pulumi.CustomResourceOptions) {
    super("tumblebug/TumblebugVNet", name, args, {}, opts);
  }
}
