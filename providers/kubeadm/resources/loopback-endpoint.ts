import type * as pulumi from "@pulumi/pulumi";
import { DynamicResource } from "../../../lib/pulumi/dynamic-resource";

export interface LoopbackEndpointArgs {
  specification: pulumi.Input<pulumi.Inputs>;
  /** Every machine of the cluster; each runs the forwarder. */
  machines: pulumi.Input<pulumi.Inputs[]>;
  jumpHost?: pulumi.Input<pulumi.Inputs>;
  credentials: pulumi.Input<pulumi.Inputs>;
  timeouts: pulumi.Input<pulumi.Inputs>;
}

/**
 * The forwarder on 127.0.0.1 of every node, rewritten when the control planes change. A machine's preparation writes
 * its first configuration, so adding workers changes nothing here.
 */
export class LoopbackEndpoint extends DynamicResource {
  constructor(name: string, args: LoopbackEndpointArgs, opts?: pulumi.CustomResourceOptions) {
    super("kubeadm/LoopbackEndpoint", name, { ...args }, [], opts);
  }
}
