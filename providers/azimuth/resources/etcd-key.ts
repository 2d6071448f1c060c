import type * as pulumi from "@pulumi/pulumi";
import { type AzimuthArgs, AzimuthResource } from "./resource";

/**
 * The Secret <cluster>-etcd-key with the key that encrypts the cluster's Secrets, if its template enables that. Created
 * once and never replaced; only the Secret contains the key.
 */
export class EtcdKey extends AzimuthResource {
  constructor(name: string, args: AzimuthArgs, opts?: pulumi.CustomResourceOptions) {
    super("azimuth/EtcdKey", name, args, ["made"], opts);
  }
}
