import type * as pulumi from "@pulumi/pulumi";
import type { AzimuthInputs } from "./cluster-inputs";
import { type AzimuthArgs, AzimuthResource } from "./resource";

export interface ServiceSyncInputs extends AzimuthInputs {
  /** Whether there is a Cluster record, whose status lists the services. */
  hasRecord: boolean;
}

/**
 * Keeps the services of a cluster equal in its record, the annotations of its addons and its Platform. Writes when an
 * `up` finds a difference; the monitor does the same between runs.
 */
export class ServiceSync extends AzimuthResource<ServiceSyncInputs> {
  constructor(name: string, args: AzimuthArgs<ServiceSyncInputs>, opts?: pulumi.CustomResourceOptions) {
    super("azimuth/ServiceSync", name, args, [], opts);
  }
}
