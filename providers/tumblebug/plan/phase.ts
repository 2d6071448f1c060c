import type { RecordedCluster } from "./recorded-state";

/** The phases of a cluster, by CB-Ladybug's words. */
export type Phase = "Pending" | "Provisioning" | "Provisioned" | "Failed" | "Deleting";

export interface ClusterStatus {
  phase: Phase;
  /** CB-Ladybug's code when it failed; "" otherwise. */
  reason: string;
  message: string;
}

/** Where a cluster stands, as the state has it when a run begins. */
export function recordedStatus({ mark, failure, isComplete }: RecordedCluster): ClusterStatus {
  if (failure) return { phase: "Failed", ...failure };
  if (isComplete) return provisioned();
  if (mark === undefined) return { phase: "Pending", reason: "", message: "nothing is made yet" };
  return {
    phase: "Provisioning",
    reason: "",
    message: "an earlier run did not come to its end; the next `up` goes on",
  };
}

export function provisioned(): ClusterStatus {
  return { phase: "Provisioned", reason: "", message: "" };
}
