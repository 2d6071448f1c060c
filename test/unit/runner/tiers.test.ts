import assert from "node:assert/strict";
import { mayStart, TIERS, type TierName } from "../../tiers";

const tier = (name: TierName) => TIERS.find((each) => each.name === name) ?? assert.fail(name);
const starts = (name: TierName, ...running: TierName[]) => mayStart(tier(name), running.map(tier));

describe("the tiers of tests", () => {
  it("start when the machine has enough resources beside the running tiers", () => {
    assert.equal(starts("engine", "unit"), false);
    assert.equal(starts("e2e", "engine"), true);
    assert.equal(starts("clouds", "e2e"), true);
    assert.equal(starts("clouds", "engine"), false);
    assert.equal(starts("rollout", "host"), true);
    assert.equal(starts("faults", "host", "rollout"), false);
  });

  it("begin with real nodes, whose files run one after another, beside one that computes", () => {
    const beside = (name: TierName) => {
      const running: TierName[] = [name];
      for (const { name: next } of TIERS.filter((each) => each.name !== name))
        if (starts(next, ...running)) running.push(next);
      return running;
    };
    assert.deepEqual(beside("unit"), ["unit", "e2e"]);
    assert.deepEqual(beside("engine"), ["engine", "e2e"]);
    assert.deepEqual(beside("host"), ["host", "e2e"]);
  });

  it("start at once when nothing runs", () => {
    for (const { name } of TIERS) assert.equal(starts(name), true, name);
  });
});
