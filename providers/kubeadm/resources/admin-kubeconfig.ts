import type * as pulumi from "@pulumi/pulumi";
import type { AdminCredentials } from "../machine/kubeconfig";
import { DynamicResource } from "../../../lib/pulumi/dynamic-resource";

export interface AdminKubeconfigArgs {
  specification: pulumi.Input<pulumi.Inputs>;
  /** The control planes; the credentials are read from one that is ready. */
  machines: pulumi.Input<pulumi.Inputs[]>;
  jumpHost?: pulumi.Input<pulumi.Inputs>;
  credentials: pulumi.Input<pulumi.Inputs>;
  timeouts: pulumi.Input<pulumi.Inputs>;
}

/**
 * The administrator's credentials of the cluster. Routine changes of machines or labels do not touch it, so a preview
 * of scaling knows the kubeconfig. It changes when the certificate expires, or when the kubeconfig's control plane no
 * longer answers.
 */
export class AdminKubeconfig extends DynamicResource {
  declare readonly admin: pulumi.Output<AdminCredentials>;
  /** Name of a control plane that answered at the last create or update. */
  declare readonly healthy: pulumi.Output<string>;

  constructor(name: string, args: AdminKubeconfigArgs, opts?: pulumi.CustomResourceOptions) {
    super("kubeadm/AdminKubeconfig", name, { ...args }, ["admin", "healthy"], {
      ...opts,
      additionalSecretOutputs: ["admin"],
    });
  }
}
