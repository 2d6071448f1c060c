import type * as pulumi from "@pulumi/pulumi";
import { DynamicResource } from "../dynamic-resource";
import { withSecrets } from "./tumblebug-object";

export interface TumblebugVmRemovalArgs {
  server: pulumi.Input<object>;
  namespace: string;
  infrastructure: string;
  /** Names of the machines that are wanted. */
  machines: string[];
  /** Machine → VM of those that are to go, as the MCIS has them. */
  leaving: pulumi.Input<Record<string, string>>;
  timeoutSeconds: number;
  /** What an earlier run could not delete, as the state has it. */
  left: Record<string, string>;
}

/**
 * Deletes the VMs of machines that are no longer wanted. It comes after the cluster's node groups, so every such
 * machine was drained and its Node deleted before. On destroy it does nothing: the MCIS goes as a whole.
 */
export class TumblebugVmRemoval extends DynamicResource {
  constructor(name: string, args: TumblebugVmRemovalArgs, opts?: pulumi.CustomResourceOptions) {
    super("tumblebug/TumblebugVmRemoval", name, { ...args }, ["left"], withSecrets(opts));
  }
}
