import type { RecordedCluster } from "./recorded-state";

/** Phases of a cluster, as in CB-Ladybug. */
export type Phase = "Pending" | "Provisioning" | "Provisioned" | "Failed" | "Deleting";

export interface ClusterStatus {
  phase: Phase;
  /** CB-Ladybug's reason code in phase Failed; "" otherwise. */
  reason: string;
  message: string;
}

/** Returns the status of a cluster from the state at the start of a run. */
export function recordedStatus({ mark, failure, isComplete }: RecordedCluster): ClusterStatus {
  if (failure) return { phase: "Failed", ...failure };
  if (isComplete) return provisioned();
  if (mark === undefined) return { phase: "Pending", reason: "", message: "nothing is made yet" };
  return {
    phase: "Provisioning",
    reason: "",
    message: "an earlier run did not end; the next `up` continues",
  };
}

export function provisioned(): ClusterStatus {
  return { phase: "Provisioned", reason: "", message: "" };
}
