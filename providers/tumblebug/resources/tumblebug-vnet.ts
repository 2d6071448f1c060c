import type * as pulumi from "@pulumi/pulumi";
import { DynamicResource } from "../../../lib/pulumi/dynamic-resource";
import { OBJECT_OUTPUTS, withSecrets, type TumblebugObjectArgs } from "./tumblebug-object";

export interface TumblebugVNetArgs extends TumblebugObjectArgs {
  /** IPv4 CIDR block of the VNet and of its only subnet. */
  cidr: string;
  /** Whether the block is from the configuration; a changed default block does not change an existing VNet. */
  cidrWritten: boolean;
  subnet: string;
}

/** A VNet of a connection, with one subnet. */
export class TumblebugVNet extends DynamicResource {
  /** Name by which other objects refer to it. */
  declare readonly object: pulumi.Output<string>;
  /** Name of the subnet. */
  declare readonly subnet: pulumi.Output<string>;

  constructor(name: string, args: TumblebugVNetArgs, opts?: pulumi.CustomResourceOptions) {
    super("tumblebug/TumblebugVNet", name, { ...args }, OBJECT_OUTPUTS, withSecrets(opts));
  }
}
