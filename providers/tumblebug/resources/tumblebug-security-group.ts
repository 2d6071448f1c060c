import type * as pulumi from "@pulumi/pulumi";
import type { FirewallRule } from "../plan/model";
import type { ExplainedRule } from "../plan/security-rules";
import { DynamicResource } from "../../../lib/pulumi/dynamic-resource";
import { OBJECT_OUTPUTS, withSecrets, type TumblebugObjectArgs } from "./tumblebug-object";

export interface TumblebugSecurityGroupArgs extends TumblebugObjectArgs {
  vNet: pulumi.Input<string>;
  /** Desired rules. A change adds new rules and removes old ones. */
  rules: ExplainedRule[];
  /** Rules that the last refresh found missing; they are added again. */
  gone?: readonly FirewallRule[];
}

/** A security group of a connection. */
export class TumblebugSecurityGroup extends DynamicResource {
  declare readonly object: pulumi.Output<string>;

  constructor(name: string, args: TumblebugSecurityGroupArgs, opts?: pulumi.CustomResourceOptions) {
    super("tumblebug/TumblebugSecurityGroup", name, { ...args }, OBJECT_OUTPUTS, withSecrets(opts));
  }
}
