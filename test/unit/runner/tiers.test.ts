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
    assert.equal(starts("host", "clouds", "rollout"), false);
    assert.equal(starts("host", "e2e", "rollout"), true);
    assert.equal(starts("e2e", "clouds", "rollout", "host"), false);
    assert.equal(starts("e2e", "engine", "rollout"), false);
    assert.equal(starts("faults", "e2e", "rollout"), false);
  });

  it("begin with real nodes, whose files run one after another, beside the fast tier", () => {
    const beside = (name: TierName) => {
      const running: TierName[] = [name];
      for (const { name: next } of TIERS.filter((each) => each.name !== name))
        if (starts(next, ...running)) running.push(next);
      return running;
    };
    assert.deepEqual(beside("unit"), ["unit", "e2e"]);
    assert.deepEqual(beside("e2e"), ["e2e", "unit"]);
    assert.deepEqual(beside("engine"), ["engine", "e2e", "host"]);
  });

  it("start at once when nothing runs", () => {
    for (const { name } of TIERS) assert.equal(starts(name), true, name);
  });
});
