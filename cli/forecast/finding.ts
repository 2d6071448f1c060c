/** Something that a rollout would meet. */
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
  /** blocks: the rollout would be refused, stop, or break something; warns: it goes on, with a loss or a risk */
  weight: "blocks" | "warns";
  words: string;
  /** what to do about it */
  mend: string;
}
