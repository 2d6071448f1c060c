import { stepLine, optional, prose, word, words } from "../../../lib/steps/line";
import { defineSteps, type StepOf } from "../../../lib/steps/steps";

const slot = word("slot");
const leaving = words("leaving");
/** The fields that differ between two machines of a slot. */
const why = optional(stepLine` (${prose("changes")})`);

export const cloudPlanSteps = defineSteps({
  make: stepLine`${slot}: ${word("name")} is made${optional(stepLine` beside ${words("outdated")}`)}${why}`,
  replace: stepLine`${slot}: ${word("name")} is made and joins, then ${leaving} is drained and deleted${why}`,
  remove: stepLine`${slot}: ${leaving} is drained and deleted${why}`,
  replaceUnattached: stepLine`${slot}: ${word("name")} is made, then the server of ${leaving} is deleted, since its port is gone`,
  removeUnattached: stepLine`${slot}: the server of ${leaving} is deleted, since its port is gone`,
  removeStopped: stepLine`${slot}: ${leaving} leaves first and is deleted without a drain, since its server is ${word("status")}`,
  replaceStopped: stepLine`${slot}: ${word("name")} is made and joins, then ${leaving} is deleted without a drain, since its server is ${word("status")}${why}`,
  removeSurplus: stepLine`${slot}: ${leaving} is drained and deleted, it is no longer wanted`,
  restoreMetadata: stepLine`${word("machine")}: restore the metadata of its server: ${words("keys")}`,
  deleteLeftover: stepLine`delete the ${prose("object")}, which a run that was cut off made and did not record`,
});
export type CloudPlanStep = StepOf<typeof cloudPlanSteps>;

export const initializedMarkSteps = defineSteps({
  mark: stepLine`${word("machine")}: wait for its node agent, then mark its server as initialized`,
});
