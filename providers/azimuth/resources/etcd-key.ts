import type * as pulumi from "@pulumi/pulumi";
import type { AzimuthInputs } from "./cluster-inputs";
import { type AzimuthArgs, AzimuthResource } from "./resource";

export interface EtcdKeyOutputs extends AzimuthInputs {
  /** Whether this stack created the Secret and therefore deletes it. */
  made: boolean;
}

/**
 * The Secret <cluster>-etcd-key with the key that encrypts the cluster's Secrets, if its template enables that. Created
 * once and never replaced; only the Secret contains the key.
 */
export class EtcdKey extends AzimuthResource<AzimuthInputs, EtcdKeyOutputs> {
  constructor(name: string, args: AzimuthArgs<AzimuthInputs>, opts?: pulumi.CustomResourceOptions) {
    super("azimuth/EtcdKey", name, args, ["made"], opts);
  }
}
