import type * as pulumi from "@pulumi/pulumi";
import { DynamicResource, type HandlerKey, type ResourceArgs } from "../../../lib/pulumi/dynamic-resource";
import { stackName } from "../../../lib/pulumi/stack";
import type { AzimuthInputs } from "./cluster-inputs";

/** The arguments of a cluster's resource on a management cluster. */
export type AzimuthArgs<Inputs extends AzimuthInputs> = ResourceArgs<Inputs, "stack">;

/** A resource of a cluster on a management cluster with Azimuth. */
export abstract class AzimuthResource<
  Inputs extends AzimuthInputs,
  Outputs extends Inputs = Inputs,
> extends DynamicResource<Outputs> {
  protected constructor(
    key: HandlerKey,
    name: string,
    args: AzimuthArgs<Inputs>,
    outputs: (keyof Outputs & string)[],
    opts?: pulumi.CustomResourceOptions,
  ) {
    super(key, name, { ...args, stack: stackName() }, { outputs, secrets: ["kubeconfig"] }, opts);
  }
}
