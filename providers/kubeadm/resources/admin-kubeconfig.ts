import type * as pulumi from "@pulumi/pulumi";
import type { AdminCredentials } from "../machine/kubeconfig";
import { DynamicResource } from "../../../lib/pulumi/dynamic-resource";

export interface AdminKubeconfigArgs {
  specification: pulumi.Input<pulumi.Inputs>;
  /** The control planes; one that lives is asked. */
  machines: pulumi.Input<pulumi.Inputs[]>;
  jumpHost?: pulumi.Input<pulumi.Inputs>;
  credentials: pulumi.Input<pulumi.Inputs>;
  timeouts: pulumi.Input<pulumi.Inputs>;
}

/**
 * The administrator's credentials of the cluster. No routine change of machines or labels touches it, so a
 * preview of scaling knows the kubeconfig; it changes when the certificate runs out or when the control
 * plane that the kubeconfig names no longer answers.
 */
export class AdminKubeconfig extends DynamicResource {
  declare readonly admin: pulumi.Output<AdminCredentials>;
  /** Name of a control plane that answered when this was last made. */
  declare readonly healthy: pulumi.Output<string>;

  constructor(name: string, args: AdminKubeconfigArgs, opts?: pulumi.CustomResourceOptions) {
    super("kubeadm/AdminKubeconfig", name, { ...args }, ["admin", "healthy"], {
      ...opts,
      additionalSecretOutputs: ["admin"],
    });
  }
}
