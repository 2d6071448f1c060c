import type * as pulumi from "@pulumi/pulumi";
import { type AzimuthArgs, AzimuthResource } from "./resource";

/**
 * The Secret <cluster>-etcd-key with the key by which the cluster encrypts its Secrets, when its template says so: made
 * once, and never again. Nothing but the Secret has the key.
 */
export class EtcdKey extends AzimuthResource {
  constructor(name: string, args: AzimuthArgs, opts?: pulumi.CustomResourceOptions) {
    super("azimuth/EtcdKey", name, args, ["made"], opts);
  }
}
