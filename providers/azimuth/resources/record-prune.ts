import type * as pulumi from "@pulumi/pulumi";
import type { AzimuthInputs } from "./cluster-inputs";
import { type AzimuthArgs, AzimuthResource } from "./resource";

export interface RecordPruneInputs extends AzimuthInputs {
  /** The Lease of the cluster, if it has one. */
  leaseName?: string;
}

/** Updates the nodes, addons and phases in the status of the Cluster record: removes what no longer exists. */
export class RecordPrune extends AzimuthResource<RecordPruneInputs> {
  constructor(name: string, args: AzimuthArgs<RecordPruneInputs>, opts?: pulumi.CustomResourceOptions) {
    super("azimuth/RecordPrune", name, args, [], opts);
  }
}
