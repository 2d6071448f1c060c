import type * as pulumi from "@pulumi/pulumi";
import { type AzimuthArgs, AzimuthResource } from "./resource";

export interface ClusterGoneArgs extends AzimuthArgs {
  /** How long a destroy waits for the cluster's machines to be gone. */
  timeoutSeconds: number;
}

/**
 * Does nothing but at its deletion: then it waits until the Cluster API's Cluster is gone. What the cluster stood on
 * is let go after that; the chart that makes the Cluster depends on this, and so goes before it.
 */
export class ClusterGone extends AzimuthResource {
  constructor(name: string, args: ClusterGoneArgs, opts?: pulumi.CustomResourceOptions) {
    super("azimuth/ClusterGone", name, args, [], opts);
  }
}
