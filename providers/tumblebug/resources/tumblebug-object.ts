import type * as pulumi from "@pulumi/pulumi";

/** What every object that VMs are made from takes. */
export interface TumblebugObjectArgs {
  /** {@link ServerInputs} */
  server: pulumi.Input<object>;
  namespace: string;
  name: string;
  connection: string;
  /** What this stack's objects carry. */
  mark: pulumi.Input<string>;
  keepOnDelete: boolean;
  /** Whether it was there before this stack. */
  foreign: pulumi.Input<boolean>;
}

/** What only the handlers know of every object. */
export const OBJECT_OUTPUTS = ["object", "made"];

/** The credentials of the server are among the inputs. */
export function withSecrets(opts?: pulumi.CustomResourceOptions): pulumi.CustomResourceOptions {
  return { ...opts, additionalSecretOutputs: ["server"] };
}
