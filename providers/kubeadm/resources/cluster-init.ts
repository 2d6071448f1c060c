import type * as pulumi from "@pulumi/pulumi";
import { DynamicResource, type ResourceArgs } from "../../../lib/pulumi/dynamic-resource";
import type { ClusterInputs, Machine } from "./inputs";

export interface ClusterInitInputs extends ClusterInputs {
  /** Every machine of the cluster: control planes are checked before init, all machines are reset on destroy. */
  machines: Machine[];
  /** Always secret. Only compared, so that a change is reported. Absent in state of older releases. */
  registryCredentials?: Record<string, { username: string; password: string }>;
  steps?: string[];
}

export interface ClusterInitOutputs extends ClusterInitInputs {
  /** Machines that were in the configuration earlier. */
  former?: Machine[];
}

/**
 * The cluster itself: runs kubeadm init on the first control plane, unless any control plane is a member already, and
 * kubeadm reset on every machine when it is destroyed (docs/adr/0006-init-and-reset.md).
 */
export class ClusterInit extends DynamicResource<ClusterInitInputs> {
  constructor(name: string, args: ResourceArgs<ClusterInitInputs>, opts?: pulumi.CustomResourceOptions) {
    super("kubeadm/ClusterInit", name, args, { secrets: ["registryCredentials"] }, opts);
  }
}
