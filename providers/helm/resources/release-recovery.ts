import * as pulumi from "@pulumi/pulumi";
import { DynamicResource } from "../../../lib/pulumi/dynamic-resource";

export interface ReleaseRecoveryArgs {
  /** Kubeconfig of the release's cluster; secret. */
  kubeconfig: pulumi.Input<string>;
  namespace: string;
  /** Name of the release. */
  release: string;
  /** Whether the stack's state contains the release at the start of this run. */
  isRecorded: boolean;
  /** Whether to take over a release of another creator; its objects stay. */
  adopt: boolean;
}

/**
 * Prepares a release after an interrupted run, because Helm refuses a name that is in use and a release with a pending
 * operation. The release depends on this resource.
 */
export class ReleaseRecovery extends DynamicResource {
  constructor(name: string, args: ReleaseRecoveryArgs, opts?: pulumi.CustomResourceOptions) {
    const stack = `${pulumi.getProject()}/${pulumi.getStack()}`;
    super("helm/ReleaseRecovery", name, { ...args, stack }, [], {
      ...opts,
      additionalSecretOutputs: ["kubeconfig"],
    });
  }
}
