import { stepLine, number, optional, prose, value } from "../../../lib/steps/line";
import { defineSteps, type StepOf } from "../../../lib/steps/steps";

/** An object's name for messages: "MachinePool demo/pool-a". */
const object = value("[^\\s,]+ [^\\s,]+")("object");
const wait = stepLine`wait at most ${number("seconds")} s for ${prose("status")}`;

export const adoptionSteps = defineSteps({
  make: stepLine`make ${object}`,
  /** The object could not be read. */
  ensureUnread: stepLine`ensure ${object}: unknown whether it exists, ${prose("why")}`,
  /** Some values are known only during the run. */
  ensure: stepLine`ensure ${object} with values not known yet${optional(stepLine`: ${prose("paths")}`)}`,
  remake: stepLine`wait until the old one is gone, then make it`,
  adopt: stepLine`adopt it${optional(stepLine`, written by ${prose("manager")}`)}`,
  /** Another stack has it, and hands it over. */
  takeOver: stepLine`take it over from ${prose("from")}`,
  /** @param former what annotations of an earlier release, or of the stack's earlier name, say; none: they say so, and the state does not */
  mark: stepLine`record this stack as its owner${optional(stepLine`, instead of ${prose("former")}`)}`,
  apply: stepLine`apply ${prose("paths")}`,
  addOwner: stepLine`add its owner ${prose("owner")}`,
  addFinalizer: stepLine`add its finalizer ${prose("finalizer")}`,
  wait,
});
export type AdoptionStep = StepOf<typeof adoptionSteps>;

export const objectReadySteps = defineSteps({
  /** The object's name is not known yet. */
  waitUnnamed: wait,
  wait: stepLine`${object}: ${wait}`,
  notRead: stepLine`${object}: not read, ${prose("why")}`,
  take: stepLine`${object}: take what has changed: ${prose("paths")}`,
});
