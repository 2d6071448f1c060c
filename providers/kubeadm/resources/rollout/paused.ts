/**
 * The rollout ended before its next node because a pause was requested or its time was over. Completed work is kept.
 */
export class RolloutPaused extends Error {
  override readonly name = "RolloutPaused";
  readonly code = "RolloutPaused";
  readonly next = "run the same `up` again when it may go on: it continues with the node that is next";
}
