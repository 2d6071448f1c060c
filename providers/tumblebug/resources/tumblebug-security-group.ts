import type * as pulumi from "@pulumi/pulumi";
import type { ResourceArgs } from "../../../lib/pulumi/dynamic-resource";
import type { FirewallRule } from "../plan/model";
import type { ExplainedRule } from "../plan/security-rules";
import type { ObjectInputs } from "./object-kind";
import { TumblebugObject } from "./tumblebug-object";

export interface TumblebugSecurityGroupInputs extends ObjectInputs {
  vNet: string;
  /** Desired rules. A change adds new rules and removes old ones. */
  rules: ExplainedRule[];
  /** Rules as the server returned them at creation, possibly in another notation. */
  there?: FirewallRule[];
  /** Rules that the last refresh found missing; they are added again. */
  gone?: FirewallRule[];
}

/** A security group of a connection. */
export class TumblebugSecurityGroup extends TumblebugObject {
  constructor(
    name: string,
    args: ResourceArgs<TumblebugSecurityGroupInputs, "there">,
    opts?: pulumi.CustomResourceOptions,
  ) {
    super("tumblebug/TumblebugSecurityGroup", name, args, {}, opts);
  }
}
