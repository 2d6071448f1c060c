import * as pulumi from "@pulumi/pulumi";
import { DynamicResource, type HandlerKey } from "../../../lib/pulumi/dynamic-resource";

/** The common arguments of a cluster's resources on a management cluster. */
export interface AzimuthArgs {
  /** Kubeconfig of the management cluster; secret. */
  kubeconfig: pulumi.Input<string>;
  namespace: string;
  /** Name of the cluster. */
  cluster: string;
}

/** A resource of a cluster on a management cluster with Azimuth. */
export abstract class AzimuthResource extends DynamicResource {
  protected constructor(
    key: HandlerKey,
    name: string,
    args: AzimuthArgs,
    outputs: string[],
    opts: pulumi.CustomResourceOptions = {},
  ) {
    const stack = `${pulumi.getProject()}/${pulumi.getStack()}`;
    super(key, name, { ...args, stack }, outputs, {
      ...opts,
      additionalSecretOutputs: ["kubeconfig", ...(opts.additionalSecretOutputs ?? [])],
    });
  }
}
