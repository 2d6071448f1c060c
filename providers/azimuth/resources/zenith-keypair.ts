import type * as pulumi from "@pulumi/pulumi";
import type { KeyedFile } from "../plan/zenith-values";
import type { Owner } from "../../kubernetes/plan/adoption";
import { type AzimuthArgs, AzimuthResource } from "./resource";

export interface ZenithKeypairArgs extends AzimuthArgs {
  /** The address of the registrar's admin API. */
  registrarAdminUrl: string;
  /** The owner of the Secret. */
  owner: pulumi.Input<Owner>;
  /** How long to retry the registrar. */
  timeoutSeconds: number;
  /** Files that contain the key, with a placeholder for it; without any, their Secret is not created. */
  files?: pulumi.Input<KeyedFile[]>;
  /** Why the files' chart can't be used; then nothing is created. */
  chartIssue?: pulumi.Input<string | undefined>;
}

/**
 * The key with which the cluster's API server connects to Zenith, and the name that Zenith reserved for it: created
 * once, in the Secret <cluster>-zenith-apiserver, and never replaced. The files that contain the key are in
 * <cluster>-zenith-files.
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
