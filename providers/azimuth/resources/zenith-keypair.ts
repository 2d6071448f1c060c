import type * as pulumi from "@pulumi/pulumi";
import type { KeyedFile } from "../plan/zenith-values";
import type { Owner } from "../../kubernetes/plan/adoption";
import { type AzimuthArgs, AzimuthResource } from "./resource";

export interface ZenithKeypairArgs extends AzimuthArgs {
  /** The registrar's address for those who may reserve. */
  registrarAdminUrl: string;
  /** What owns the Secret. */
  owner: pulumi.Input<Owner>;
  /** How long the registrar is asked. */
  timeoutSeconds: number;
  /** Files that contain the key, with a placeholder in its place; none leaves their Secret out. */
  files?: pulumi.Input<KeyedFile[]>;
  /** Why the chart that the files are from can't be used: then nothing is made. */
  chartIssue?: pulumi.Input<string | undefined>;
}

/**
 * The key with which the cluster's API server dials Zenith, and the name that Zenith reserved for it: made once, in the
 * Secret <cluster>-zenith-apiserver, and never again. The files that contain the key are in <cluster>-zenith-files.
 */
export class ZenithKeypair extends AzimuthResource {
  declare readonly subdomain: pulumi.Output<string>;
  declare readonly fqdn: pulumi.Output<string>;
  /** OpenSSH text. */
  declare readonly privateKey: pulumi.Output<string>;

  constructor(name: string, args: ZenithKeypairArgs, opts?: pulumi.CustomResourceOptions) {
    super("azimuth/ZenithKeypair", name, args, ["subdomain", "fqdn", "privateKey", "publicKey", "made"], {
      ...opts,
      additionalSecretOutputs: ["privateKey"],
    });
  }
}
