import type * as pulumi from "@pulumi/pulumi";
import { DynamicResource } from "../../../lib/pulumi/dynamic-resource";

/** Plain inputs have the types of providers/kubeadm/resources/inputs.ts. */
export interface ClusterInitArgs {
  specification: pulumi.Input<pulumi.Inputs>;
  /** Every machine of the cluster: control planes are checked before init, all machines are reset on destroy. */
  machines: pulumi.Input<pulumi.Inputs[]>;
  jumpHost?: pulumi.Input<pulumi.Inputs>;
  credentials: pulumi.Input<pulumi.Inputs>;
  /** Always secret. Only compared, so that a change is reported. */
  registryCredentials: pulumi.Input<pulumi.Inputs>;
  timeouts: pulumi.Input<pulumi.Inputs>;
}

/**
 * The cluster itself: runs kubeadm init on the first control plane, unless any control plane is a member already, and
 * kubeadm reset on every machine when it is destroyed (docs/adr/0006-init-and-reset.md).
 */
export class ClusterInit extends DynamicResource {
  constructor(name: string, args: ClusterInitArgs, opts?: pulumi.CustomResourceOptions) {
    super("kubeadm/ClusterInit", name, { ...args }, [], {
      ...opts,
      additionalSecretOutputs: ["registryCredentials"],
    });
  }
}
