import { resourceClass } from "../../../lib/pulumi/dynamic-resource";

export interface ReleaseRecoveryInputs {
  /** Kubeconfig of the release's cluster; secret. */
  kubeconfig: string;
  /** "project/stack" */
  stack: string;
  namespace: string;
  /** Name of the release. */
  release: string;
  /** Whether the stack's state contains the release at the start of this run. */
  isRecorded: boolean;
  /** Whether to take over a release of another creator; its objects stay. */
  adopt: boolean;
  steps?: string[];
}

/**
 * Prepares a release after an interrupted run, because Helm refuses a name that is in use and a release with a pending
 * operation. The release depends on this resource.
 */
export class ReleaseRecovery extends resourceClass<ReleaseRecoveryInputs>("helm/ReleaseRecovery", {
  secrets: ["kubeconfig"],
}) {}
