import { line, number, optional, text, value } from "../../../lib/steps/line";
import { defineSteps, type StepOf } from "../../../lib/steps/steps";

/** An object's name for messages: "MachinePool demo/pool-a". */
const object = value("[^\\s,]+ [^\\s,]+")("object");
const wait = line`wait at most ${number("seconds")} s for ${text("status")}`;

export const adoptionSteps = defineSteps({
  make: line`make ${object}`,
  /** The object could not be read. */
  ensureUnread: line`ensure ${object}: unknown whether it exists, ${text("why")}`,
  /** Some values are known only during the run. */
  ensure: line`ensure ${object} with values not known yet${optional(line`: ${text("paths")}`)}`,
  remake: line`wait until the old one is gone, then make it`,
  adopt: line`adopt it${optional(line`, written by ${text("manager")}`)}`,
  /** Another stack has it, and hands it over. */
  takeOver: line`take it over from ${text("from")}`,
  /** @param former what annotations of an earlier release, or of the stack's earlier name, say; none: they say so, and the state does not */
  mark: line`record this stack as its owner${optional(line`, instead of ${text("former")}`)}`,
  apply: line`apply ${text("paths")}`,
  addOwner: line`add its owner ${text("owner")}`,
  addFinalizer: line`add its finalizer ${text("finalizer")}`,
  wait,
});
export type AdoptionStep = StepOf<typeof adoptionSteps>;

export const objectReadySteps = defineSteps({
  /** The object's name is not known yet. */
  waitUnnamed: wait,
  wait: line`${object}: ${wait}`,
  notRead: line`${object}: not read, ${text("why")}`,
  take: line`${object}: take what has changed: ${text("paths")}`,
});
