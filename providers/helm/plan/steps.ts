import { choice, flag, line, number, token } from "../../../lib/steps/line";
import { defineSteps } from "../../../lib/steps/steps";

const takenOver = flag("takenOver", " and are taken over");

export const releaseRecoverySteps = defineSteps({
  /** The deletion of a revision from Helm's record. */
  forget: line`forget revision ${number("revision")} (${token("status")}) of ${token("release")}, left by ${choice(
    "by",
    ["a run that was cut off", "others"],
  )}: its objects stay${takenOver}`,
});
