import { line, optional, text, word, words } from "../../../lib/steps/line";
import { defineSteps, type StepOf } from "../../../lib/steps/steps";

const slot = word("slot");
const leaving = words("leaving");
/** The fields that differ between two machines of a slot. */
const why = optional(line` (${text("changes")})`);

export const cloudPlanSteps = defineSteps({
  make: line`${slot}: ${word("name")} is made${optional(line` beside ${words("outdated")}`)}${why}`,
  replace: line`${slot}: ${word("name")} is made and joins, then ${leaving} is drained and deleted${why}`,
  remove: line`${slot}: ${leaving} is drained and deleted${why}`,
  replaceUnattached: line`${slot}: ${word("name")} is made, then the server of ${leaving} is deleted, since its port is gone`,
  removeUnattached: line`${slot}: the server of ${leaving} is deleted, since its port is gone`,
  removeStopped: line`${slot}: ${leaving} leaves first and is deleted without a drain, since its server is ${word("status")}`,
  replaceStopped: line`${slot}: ${word("name")} is made and joins, then ${leaving} is deleted without a drain, since its server is ${word("status")}${why}`,
  removeSurplus: line`${slot}: ${leaving} is drained and deleted, it is no longer wanted`,
  restoreMetadata: line`${word("machine")}: restore the metadata of its server: ${words("keys")}`,
  deleteLeftover: line`delete the ${text("object")}, which a run that was cut off made and did not record`,
});
export type CloudPlanStep = StepOf<typeof cloudPlanSteps>;

export const initializedMarkSteps = defineSteps({
  mark: line`${word("machine")}: wait for its node agent, then mark its server as initialized`,
});
