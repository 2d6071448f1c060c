import type * as pulumi from "@pulumi/pulumi";
import { type AzimuthArgs, AzimuthResource } from "./resource";

export interface StatusStampArgs extends AzimuthArgs {
  /** Whether it is written before everything else, and only where there is none, or after. */
  moment: "start" | "end";
  /** What the run is about; another value writes the time anew. */
  fingerprint: pulumi.Input<string>;
}

/** `status.lastUpdated` of the Cluster record, written when the specification or the values have changed. */
export class StatusStamp extends AzimuthResource {
  constructor(name: string, args: StatusStampArgs, opts?: pulumi.CustomResourceOptions) {
    super("azimuth/StatusStamp", name, args, [], opts);
  }
}
