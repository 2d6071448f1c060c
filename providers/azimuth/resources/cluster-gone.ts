import type * as pulumi from "@pulumi/pulumi";
import type { AzimuthInputs } from "./cluster-inputs";
import { type AzimuthArgs, AzimuthResource } from "./resource";

export interface ClusterGoneInputs extends AzimuthInputs {
  /** How long a destroy waits until the cluster's machines are gone. */
  timeoutSeconds: number;
}

/**
 * Does nothing until it is deleted; then it waits until Cluster API's Cluster is gone. What the cluster needs is
 * deleted after that. The chart that creates the Cluster depends on this resource and is therefore deleted first.
 */
export class ClusterGone extends AzimuthResource<ClusterGoneInputs> {
  constructor(name: string, args: AzimuthArgs<ClusterGoneInputs>, opts?: pulumi.CustomResourceOptions) {
    super("azimuth/ClusterGone", name, args, [], opts);
  }
}
