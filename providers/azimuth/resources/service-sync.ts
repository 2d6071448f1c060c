import type * as pulumi from "@pulumi/pulumi";
import { type AzimuthArgs, AzimuthResource } from "./resource";

export interface ServiceSyncArgs extends AzimuthArgs {
  /** Whether there is a Cluster record, whose status tells of the services. */
  hasRecord: boolean;
}

/**
 * The services of a cluster, said alike by its record, by the annotations of its addons and by its Platform. It writes
 * when an `up` finds that they differ; the monitor does the same in between.
 */
export class ServiceSync extends AzimuthResource {
  constructor(name: string, args: ServiceSyncArgs, opts?: pulumi.CustomResourceOptions) {
    super("azimuth/ServiceSync", name, args, [], opts);
  }
}
