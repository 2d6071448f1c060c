/**
 * Why a cluster failed, by the codes of CB-Ladybug 0.7.2 ("SetupBoostrap" is spelled as there). The server's own
 * steps on the machines are the kubeadm cluster's here, whose errors name the machine and the step.
 */
export type Reason =
  | "GetMCISFailedReason"
  | "AlreadyExistMCISFailedReason"
  | "InvalidMCIRReason"
  | "CreateMCISFailedReason"
  | "CreateVpcFailedReason"
  | "CreateSecurityGroupFailedReason"
  | "CreateSSHKeyFailedReason"
  | "CreateVmImageFailedReason"
  | "CreateVmSpecFailedReason"
  | "CreateNLBFailedReason"
  | "AddNodeEntityFailedReason"
  | "SetupBoostrapFailedReason"
  | "SetupHaproxyFailedReason"
  | "InitExternalEtcdFailedReason"
  | "InitControlPlaneFailedReason"
  | "JoinControlPlaneFailedReason"
  | "JoinWorkerFailedReason"
  | "SetupNetworkCNIFailedReason"
  | "SetupStorageClassFailedReason"
  | "SetupCCMFailedReason"
  | "GetControlPlaneConnectionInfoFailedReason"
  | "GetWorkerConnectionInfoFailedReason";

/** A failure with CB-Ladybug's reason, beside what went wrong in the server's words. */
export class ReasonedError extends Error {
  override readonly name = "ReasonedError";

  constructor(
    readonly code: Reason,
    message: string,
    /** What to do next. */
    readonly next?: string,
  ) {
    super(message);
  }
}
