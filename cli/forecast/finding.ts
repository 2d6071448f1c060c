/** A problem that a rollout would encounter. */
export interface Finding {
  about:
    | "rollout"
    | "skew"
    | "node"
    | "budget"
    | "placement"
    | "unmanaged pod"
    | "emptyDir"
    | "certificate"
    | "API version";
  /** blocks: the rollout would be refused, stop, or break something; warns: it continues with a loss or a risk */
  weight: "blocks" | "warns";
  words: string;
  /** how to fix it */
  mend: string;
}
