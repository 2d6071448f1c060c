import type * as pulumi from "@pulumi/pulumi";
import { type AzimuthArgs, AzimuthResource } from "./resource";

export interface ClusterGoneArgs extends AzimuthArgs {
  /** How long a destroy waits until the cluster's machines are gone. */
  timeoutSeconds: number;
}

/**
 * Does nothing until it is deleted; then it waits until Cluster API's Cluster is gone. What the cluster needs is
 * deleted after that. The chart that creates the Cluster depends on this resource and is therefore deleted first.
 */
export class ClusterGone extends AzimuthResource {
  constructor(name: string, args: ClusterGoneArgs, opts?: pulumi.CustomResourceOptions) {
    super("azimuth/ClusterGone", name, args, [], opts);
  }
}
