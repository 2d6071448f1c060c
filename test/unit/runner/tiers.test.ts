import assert from "node:assert/strict";
import { mayStart, TIERS, type TierName } from "../../tiers";

const tier = (name: TierName) => TIERS.find((each) => each.name === name) ?? assert.fail(name);
const starts = (name: TierName, ...running: TierName[]) => mayStart(tier(name), running.map(tier));

describe("the tiers of tests", () => {
  it("start when the machine has enough resources beside the running tiers", () => {
    assert.equal(starts("engine", "unit"), false);
    assert.equal(starts("clouds", "engine"), true);
    assert.equal(starts("rollout", "engine", "clouds"), false);
    assert.equal(starts("rollout", "clouds"), true);
    assert.equal(starts("host", "clouds", "rollout"), true);
    assert.equal(starts("e2e", "clouds", "rollout", "host"), false);
    assert.equal(starts("e2e", "engine", "rollout"), true);
  });

  it("end with one that has files for both cores: e2e, the longest on one core, begins beside rollout", () => {
    const running: TierName[] = ["engine"];
    for (const { name } of TIERS.slice(TIERS.indexOf(tier("rollout"))))
      if (starts(name, ...running)) running.push(name);
    assert.deepEqual(running, ["engine", "rollout", "e2e"]);
  });

  it("start at once when nothing runs", () => {
    for (const { name } of TIERS) assert.equal(starts(name), true, name);
  });
});
