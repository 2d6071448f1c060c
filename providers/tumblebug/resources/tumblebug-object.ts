import type * as pulumi from "@pulumi/pulumi";

/** Arguments of every object that VMs are created from. */
export interface TumblebugObjectArgs {
  /** {@link ServerInputs} */
  server: pulumi.Input<object>;
  namespace: string;
  name: string;
  connection: string;
  /** Owner tag of this stack's objects. */
  mark: pulumi.Input<string>;
  keepOnDelete: boolean;
  /** Whether the object existed before this stack. */
  foreign: pulumi.Input<boolean>;
}

/** Outputs of every object that its handlers set. */
export const OBJECT_OUTPUTS = ["object", "made"];

/** Returns options that keep `server` secret, because it contains credentials. */
export function withSecrets(opts?: pulumi.CustomResourceOptions): pulumi.CustomResourceOptions {
  return { ...opts, additionalSecretOutputs: ["server"] };
}
