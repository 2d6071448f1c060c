import type * as pulumi from "@pulumi/pulumi";
import type { AzimuthInputs } from "./cluster-inputs";
import { type AzimuthArgs, AzimuthResource } from "./resource";

export interface StatusStampInputs extends AzimuthInputs {
  /** "start" writes it before everything else, and only if it is not set; "end" writes it afterwards. */
  moment: "start" | "end";
  /** Hash of the run's spec; a new value writes the time again. */
  fingerprint: string;
}

/** `status.lastUpdated` of the Cluster record, written when the specification or the values have changed. */
export class StatusStamp extends AzimuthResource<StatusStampInputs> {
  constructor(name: string, args: AzimuthArgs<StatusStampInputs>, opts?: pulumi.CustomResourceOptions) {
    super("azimuth/StatusStamp", name, args, [], opts);
  }
}
