import type * as pulumi from "@pulumi/pulumi";
import type { ResourceArgs } from "../../../lib/pulumi/dynamic-resource";
import type { ObjectInputs, ObjectOutputs } from "./object-kind";
import { TumblebugObject } from "./tumblebug-object";

export interface TumblebugSshKeyInputs extends ObjectInputs {
  /** SSH user. */
  user: string;
}

interface TumblebugSshKeyOutputs extends TumblebugSshKeyInputs, ObjectOutputs {
  /** Secret. */
  privateKey: string;
  publicKey: string;
  fingerprint: string;
}

/** An SSH key that the cloud creates, for all machines of its connection. */
export class TumblebugSshKey extends TumblebugObject<TumblebugSshKeyOutputs> {
  declare readonly privateKey: pulumi.Output<string>;
  declare readonly publicKey: pulumi.Output<string>;

  constructor(name: string, args: ResourceArgs<TumblebugSshKeyInputs>, opts?: pulumi.CustomResourceOptions) {
    super(
      "tumblebug/TumblebugSshKey",
      name,
      args,
      { outputs: ["privateKey", "publicKey", "fingerprint"], secrets: ["privateKey"] },
      opts,
    );
  }
}
