/** How a check of the CIS Kubernetes benchmark is met. */
export type Met = "by default" | "profile" | "operator" | "not applicable";

export interface HardeningCheck {
  id: string;
  /** Its subject, in our words. */
  title: string;
  met: Met;
  /** How. */
  note: string;
  /** Machines on which the probe runs; a kubelet is asked through the API. */
  on?: "control-plane" | "machine" | "kubelet";
  /** A command that succeeds when the check is met. */
  probe?: string;
}

/** A check as the tables have it. */
export type Row = readonly [id: string, title: string, met: Met, note: string, probe?: string];

/** Folder of certificates and keys. */
export const PKI = "/etc/kubernetes/pki";
/** How the profile keeps files private. */
export const UNIT = "At each start of the kubelet: 0600";
