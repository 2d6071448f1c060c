import type * as pulumi from "@pulumi/pulumi";
import { DynamicResource } from "../../../lib/pulumi/dynamic-resource";

export interface ReaderAccountArgs {
  specification: pulumi.Input<pulumi.Inputs>;
  stack: pulumi.Input<string>;
  kubeconfig: pulumi.Input<string>;
  timeouts: pulumi.Input<pulumi.Inputs>;
}

/** The account kube-system/foresail-reader, with which a preview needs no power to change anything. */
export class ReaderAccount extends DynamicResource {
  constructor(name: string, args: ReaderAccountArgs, opts?: pulumi.CustomResourceOptions) {
    super("kubeadm/ReaderAccount", name, { ...args }, [], {
      ...opts,
      additionalSecretOutputs: ["kubeconfig"],
    });
  }
}
