import { leaveOut } from "./left-out";

/**
 * Each test of the suite builds on those before it: when one has failed the rest is left out.
 * @param keep they run nevertheless, for work on a test that keeps what it created
 */
export function oneAfterTheOther(keep = false): void {
  let broken = false;
  beforeEach(function () {
    if (broken && !keep) leaveOut(this, "an earlier step failed, and each builds on those before it");
  });
  afterEach(function () {
    if (this.currentTest?.state === "failed") broken = true;
  });
}
