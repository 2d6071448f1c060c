import type * as pulumi from "@pulumi/pulumi";
import type { Owner } from "../../kubernetes/plan/adoption";
import type { KeyedFile } from "../plan/zenith-values";
import type { AzimuthInputs } from "./cluster-inputs";
import { type AzimuthArgs, AzimuthResource } from "./resource";

export interface ZenithKeypairInputs extends AzimuthInputs {
  /** The address of the registrar's admin API. */
  registrarAdminUrl: string;
  /** The owner of the Secret. */
  owner: Owner;
  /** How long to retry the registrar. */
  timeoutSeconds: number;
  /**
   * Files that contain the key, with a placeholder for it; without any, their Secret is not created. Undefined in older
   * states.
   */
  files?: KeyedFile[];
  /** Why the files' chart can't be used; then nothing is created. */
  chartIssue?: string;
}

export interface ZenithKeypairOutputs extends ZenithKeypairInputs {
  subdomain: string;
  fqdn: string;
  /** OpenSSH text. */
  privateKey: string;
  publicKey: string;
  /** Whether this stack created the Secret and therefore deletes it. */
  made: boolean;
}

/**
 * The key with which the cluster's API server connects to Zenith, and the name that Zenith reserved for it: created
 * once, in the Secret <cluster>-zenith-apiserver, and never replaced. The files that contain the key are in
 * <cluster>-zenith-files.
 */
export class ZenithKeypair extends AzimuthResource<ZenithKeypairInputs, ZenithKeypairOutputs> {
  declare readonly subdomain: pulumi.Output<string>;
  declare readonly fqdn: pulumi.Output<string>;
  declare readonly privateKey: pulumi.Output<string>;

  constructor(name: string, args: AzimuthArgs<ZenithKeypairInputs>, opts?: pulumi.CustomResourceOptions) {
    super("azimuth/ZenithKeypair", name, args, ["subdomain", "fqdn", "privateKey", "publicKey", "made"], {
      ...opts,
      additionalSecretOutputs: ["privateKey"],
    });
  }
}
