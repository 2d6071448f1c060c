import type * as pulumi from "@pulumi/pulumi";
import { DynamicResource } from "../../../lib/pulumi/dynamic-resource";

export interface InitializedMarkArgs {
  specification: pulumi.Input<pulumi.Inputs>;
  cloud?: string;
  region?: string;
  machines: pulumi.Input<pulumi.Inputs[]>;
  /** Machine name → id of its server. */
  servers: pulumi.Input<Record<string, pulumi.Input<string>>>;
  jumpHost?: pulumi.Input<pulumi.Inputs>;
  credentials: pulumi.Input<pulumi.Inputs>;
  timeouts: pulumi.Input<pulumi.Inputs>;
}

/**
 * The mark "initialized" on every server, in its metadata: written by the program when the machine's node agent has
 * said so over SSH. So no credential of the cloud is on any machine for it.
 */
export class InitializedMark extends DynamicResource {
  constructor(name: string, args: InitializedMarkArgs, opts?: pulumi.CustomResourceOptions) {
    super("openstack/InitializedMark", name, { ...args }, ["marked"], opts);
  }
}
