import type * as pulumi from "@pulumi/pulumi";
import { type AzimuthArgs, AzimuthResource } from "./resource";

export interface RecordPruneArgs extends AzimuthArgs {
  /** The Lease of the cluster, when it has one. */
  leaseName?: string;
}

/** The nodes, addons and phases in the status of the Cluster record: what has gone from the cluster goes from there. */
export class RecordPrune extends AzimuthResource {
  constructor(name: string, args: RecordPruneArgs, opts?: pulumi.CustomResourceOptions) {
    super("azimuth/RecordPrune", name, args, [], opts);
  }
}
