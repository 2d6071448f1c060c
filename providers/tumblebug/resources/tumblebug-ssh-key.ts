import type * as pulumi from "@pulumi/pulumi";
import { DynamicResource } from "../../../lib/pulumi/dynamic-resource";
import { OBJECT_OUTPUTS, type TumblebugObjectArgs } from "./tumblebug-object";

export interface TumblebugSshKeyArgs extends TumblebugObjectArgs {
  /** SSH user. */
  user: string;
}

/** An SSH key that the cloud creates, for all machines of its connection. */
export class TumblebugSshKey extends DynamicResource {
  declare readonly object: pulumi.Output<string>;
  /** Secret. */
  declare readonly privateKey: pulumi.Output<string>;
  declare readonly publicKey: pulumi.Output<string>;

  constructor(name: string, args: TumblebugSshKeyArgs, opts?: pulumi.CustomResourceOptions) {
    const outputs = [...OBJECT_OUTPUTS, "privateKey", "publicKey", "fingerprint"];
    super("tumblebug/TumblebugSshKey", name, { ...args }, outputs, {
      ...opts,
      additionalSecretOutputs: ["server", "privateKey"],
    });
  }
}
