import type * as pulumi from "@pulumi/pulumi";
import { DynamicResource } from "../../../lib/pulumi/dynamic-resource";

export interface ReaderAccountArgs {
  specification: pulumi.Input<pulumi.Inputs>;
  stack: pulumi.Input<string>;
  kubeconfig: pulumi.Input<string>;
  timeouts: pulumi.Input<pulumi.Inputs>;
}

/** The account kube-system/foresail-reader, which lets a preview run without write permission. */
export class ReaderAccount extends DynamicResource {
  constructor(name: string, args: ReaderAccountArgs, opts?: pulumi.CustomResourceOptions) {
    super("kubeadm/ReaderAccount", name, { ...args }, [], {
      ...opts,
      additionalSecretOutputs: ["kubeconfig"],
    });
  }
}
