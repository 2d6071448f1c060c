import type * as pulumi from "@pulumi/pulumi";
import { DynamicResource, type HandlerKey, type ResourceArgs } from "../../../lib/pulumi/dynamic-resource";
import { stackName } from "../../../lib/pulumi/stack";
import type { ObjectInputs } from "./inputs";

const TIMEOUT_SECONDS = 300;

/** The arguments of a resource for a cluster's object. */
export type ObjectArgs<Inputs extends ObjectInputs> = ResourceArgs<Inputs, "stack" | "timeoutSeconds"> & {
  /** Timeout of the whole wait in seconds; default 300. */
  timeoutSeconds?: pulumi.Input<number>;
};

/** A resource for one object of a cluster. */
export abstract class ObjectResource<
  Inputs extends ObjectInputs,
  Outputs extends Inputs,
> extends DynamicResource<Outputs> {
  protected constructor(
    key: HandlerKey,
    name: string,
    args: ObjectArgs<Inputs>,
    outputs: (keyof Outputs & string)[],
    opts?: pulumi.CustomResourceOptions,
  ) {
    const all = { timeoutSeconds: TIMEOUT_SECONDS, ...args, stack: stackName() };
    super(key, name, all, { outputs, secrets: ["kubeconfig"] }, opts);
  }
}
