/** The rollout ended before its next node because it was told to. What was done stays done. */
export class RolloutPaused extends Error {
  override readonly name = "RolloutPaused";
  readonly code = "RolloutPaused";
  readonly next = "run the same `up` again when it may go on: it continues with the node that is next";
}
