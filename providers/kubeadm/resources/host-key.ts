import type * as pulumi from "@pulumi/pulumi";
import { DynamicResource } from "../../../lib/pulumi/dynamic-resource";

export interface HostKeyArgs {
  machine: pulumi.Input<string>;
  address: pulumi.Input<string>;
  port: pulumi.Input<number>;
  jumpHost?: pulumi.Input<pulumi.Inputs>;
  credentials: pulumi.Input<pulumi.Inputs>;
  timeoutSeconds: pulumi.Input<number>;
}

/** The SSH host key of a machine without a configured one: read at first contact, then pinned. */
export class HostKey extends DynamicResource {
  /** "ssh-ed25519 AAAA…" */
  declare readonly hostKey: pulumi.Output<string>;

  constructor(name: string, args: HostKeyArgs, opts?: pulumi.CustomResourceOptions) {
    super("kubeadm/HostKey", name, { ...args }, ["hostKey"], opts);
  }
}
