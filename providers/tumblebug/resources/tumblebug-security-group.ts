import type * as pulumi from "@pulumi/pulumi";
import type { FirewallRule } from "../plan/model";
import type { ExplainedRule } from "../plan/security-rules";
import { DynamicResource } from "../../../lib/pulumi/dynamic-resource";
import { OBJECT_OUTPUTS, withSecrets, type TumblebugObjectArgs } from "./tumblebug-object";

export interface TumblebugSecurityGroupArgs extends TumblebugObjectArgs {
  vNet: pulumi.Input<string>;
  /** Change: opens what is new, closes what is not wanted any more. */
  rules: ExplainedRule[];
  /** Rules that others closed, as the last refresh found them: they are opened again. */
  gone?: readonly FirewallRule[];
}

/** A security group of a connection: what its machines accept. */
export class TumblebugSecurityGroup extends DynamicResource {
  declare readonly object: pulumi.Output<string>;

  constructor(name: string, args: TumblebugSecurityGroupArgs, opts?: pulumi.CustomResourceOptions) {
    super("tumblebug/TumblebugSecurityGroup", name, { ...args }, OBJECT_OUTPUTS, withSecrets(opts));
  }
}
