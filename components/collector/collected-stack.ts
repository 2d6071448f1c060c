import * as pulumi from "@pulumi/pulumi";

/** A stack whose kubeconfig a collector includes: previews show which stacks come and go. */
export class CollectedStack extends pulumi.ComponentResource {
  /** @param name of the stack's context */
  constructor(name: string, options?: pulumi.ComponentResourceOptions) {
    super("foresail:collector:CollectedStack", name, {}, options);
    this.registerOutputs({});
  }
}
