/**
 * Reason codes of CB-Ladybug 0.7.2 for a failed cluster, as CB-Ladybug spells them. Those of the steps on machines are in
 * the status of the next preview: these steps are part of the kubeadm cluster here, whose errors name the machine and the
 * step.
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
  | "InitControlPlaneFailedReason"
  | "SetupNetworkCNIFailedReason"
  | "JoinControlPlaneFailedReason"
  | "JoinWorkerFailedReason"
  | "GetControlPlaneConnectionInfoFailedReason"
  | "GetWorkerConnectionInfoFailedReason";

/** An error with CB-Ladybug's reason code and the server's message. */
export class ReasonedError extends Error {
  override readonly name = "ReasonedError";

  constructor(
    readonly code: Reason,
    message: string,
    /** Remediation. */
    readonly next?: string,
  ) {
    super(message);
  }

  /** Returns an error with a code, and the remediation that it has; unchanged if it has a reason code already. */
  static from(code: Reason, error: unknown): ReasonedError {
    if (error instanceof ReasonedError) return error;
    const { message = String(error), next } = error as { message?: string; next?: string };
    return new ReasonedError(code, message, next);
  }
}
