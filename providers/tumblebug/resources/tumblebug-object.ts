import type * as pulumi from "@pulumi/pulumi";
import {
  DynamicResource,
  type HandlerKey,
  type ResourceProperties,
} from "../../../lib/pulumi/dynamic-resource";
import type { ObjectOutputs } from "./object-kind";

/** An object that VMs are created from. */
export abstract class TumblebugObject<
  Outputs extends ObjectOutputs = ObjectOutputs,
> extends DynamicResource<Outputs> {
  /** Name by which other objects and VMs refer to it. */
  declare readonly object: pulumi.Output<string>;

  protected constructor(
    key: HandlerKey,
    name: string,
    args: object,
    { outputs = [], secrets = [] }: ResourceProperties<Outputs>,
    opts?: pulumi.CustomResourceOptions,
  ) {
    super(
      key,
      name,
      args,
      { outputs: ["object", "made", ...outputs], secrets: ["server", ...secrets] },
      opts,
    );
  }
}
