import type * as pulumi from "@pulumi/pulumi";
import { DynamicResource, type ResourceArgs } from "../../../lib/pulumi/dynamic-resource";
import type { AdminCredentials } from "../machine/kubeconfig";
import type { ClusterInputs, Machine } from "./inputs";

export interface AdminKubeconfigInputs extends ClusterInputs {
  /** The control planes; the credentials are read from one that is ready. */
  machines: Machine[];
}

export interface AdminKubeconfigOutputs extends AdminKubeconfigInputs {
  admin: AdminCredentials;
  /** Name of a control plane that answered at the last create or update. */
  healthy: string;
}

/**
 * The administrator's credentials of the cluster. Routine changes of machines or labels do not touch it, so a preview
 * of scaling knows the kubeconfig. It changes when the certificate expires, or when the kubeconfig's control plane no
 * longer answers.
 */
export class AdminKubeconfig extends DynamicResource<AdminKubeconfigOutputs> {
  declare readonly admin: pulumi.Output<AdminCredentials>;
  declare readonly healthy: pulumi.Output<string>;

  constructor(name: string, args: ResourceArgs<AdminKubeconfigInputs>, opts?: pulumi.CustomResourceOptions) {
    super("kubeadm/AdminKubeconfig", name, args, { outputs: ["admin", "healthy"], secrets: ["admin"] }, opts);
  }
}
