import * as pulumi from "@pulumi/pulumi";
import { DynamicResource } from "../../../lib/pulumi/dynamic-resource";

export interface ReleaseRecoveryArgs {
  /** Of the cluster that has the release; secret. */
  kubeconfig: pulumi.Input<string>;
  namespace: string;
  /** Name of the release. */
  release: string;
  /** Whether the stack's state has the release as this run begins. */
  isRecorded: boolean;
  /** Take over a release that others made; its objects stay. */
  adopt: boolean;
}

/**
 * What has to happen before Helm can install or upgrade a release after a run that was cut off: Helm itself refuses
 * a name that is in use and a release at which somebody seems to be at work. The release depends on this.
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
