import type * as pulumi from "@pulumi/pulumi";
import { type AzimuthArgs, AzimuthResource } from "./resource";

export interface RecordPruneArgs extends AzimuthArgs {
  /** The Lease of the cluster, if it has one. */
  leaseName?: string;
}

/** Updates the nodes, addons and phases in the status of the Cluster record: removes what no longer exists. */
export class RecordPrune extends AzimuthResource {
  constructor(name: string, args: RecordPruneArgs, opts?: pulumi.CustomResourceOptions) {
    super("azimuth/RecordPrune", name, args, [], opts);
  }
}
