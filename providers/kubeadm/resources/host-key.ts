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

/** The SSH host key of a machine whose configuration names none: read at first contact, then held. */
export class HostKey extends DynamicResource {
  /** "ssh-ed25519 AAAA…" */
  declare readonly hostKey: pulumi.Output<string>;

  constructor(name: string, args: HostKeyArgs, opts?: pulumi.CustomResourceOptions) {
    super("kubeadm/HostKey", name, { ...args }, ["hostKey"], opts);
  }
}
