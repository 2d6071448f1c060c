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
 * The ready tag of every server, in its metadata. Foresail writes it after the machine's node agent has reported the
 * machine as ready over SSH, so machines need no cloud credential.
 */
export class InitializedMark extends DynamicResource {
  constructor(name: string, args: InitializedMarkArgs, opts?: pulumi.CustomResourceOptions) {
    super("openstack/InitializedMark", name, { ...args }, ["marked"], opts);
  }
}
