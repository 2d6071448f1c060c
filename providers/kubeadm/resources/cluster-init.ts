import type * as pulumi from "@pulumi/pulumi";
import { DynamicResource } from "../../../lib/pulumi/dynamic-resource";

/** Plain inputs are as providers/kubeadm/resources/inputs.ts types them. */
export interface ClusterInitArgs {
  specification: pulumi.Input<pulumi.Inputs>;
  /** Every machine of the cluster: control planes are asked before init, all are reset on destroy. */
  machines: pulumi.Input<pulumi.Inputs[]>;
  jumpHost?: pulumi.Input<pulumi.Inputs>;
  credentials: pulumi.Input<pulumi.Inputs>;
  /** Always a secret; only compared, so that a change says what it does. */
  registryCredentials: pulumi.Input<pulumi.Inputs>;
  timeouts: pulumi.Input<pulumi.Inputs>;
}

/**
 * The cluster's existence: kubeadm init on the first control plane, unless any control plane is a member
 * already; kubeadm reset on every machine when it is destroyed (docs/adr/0006-init-and-reset.md).
 */
export class ClusterInit extends DynamicResource {
  constructor(name: string, args: ClusterInitArgs, opts?: pulumi.CustomResourceOptions) {
    super("kubeadm/ClusterInit", name, { ...args }, [], {
      ...opts,
      additionalSecretOutputs: ["registryCredentials"],
    });
  }
}
