import type * as pulumi from "@pulumi/pulumi";
import { DynamicResource } from "../../../lib/pulumi/dynamic-resource";
import { OBJECT_OUTPUTS, withSecrets, type TumblebugObjectArgs } from "./tumblebug-object";

export interface TumblebugVNetArgs extends TumblebugObjectArgs {
  /** IPv4 block, which its one subnet has too. */
  cidr: string;
  /** Whether the block was written by a person; another choice does not move a VNet that is there. */
  cidrWritten: boolean;
  subnet: string;
}

/** A VNet of a connection, with one subnet. */
export class TumblebugVNet extends DynamicResource {
  /** Name by which others refer to it. */
  declare readonly object: pulumi.Output<string>;
  /** Name of its subnet. */
  declare readonly subnet: pulumi.Output<string>;

  constructor(name: string, args: TumblebugVNetArgs, opts?: pulumi.CustomResourceOptions) {
    super("tumblebug/TumblebugVNet", name, { ...args }, OBJECT_OUTPUTS, withSecrets(opts));
  }
}
