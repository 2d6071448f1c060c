import assert from "node:assert/strict";
import { besideEachOther, TIERS } from "../../tiers";

const together = (...names: string[]) =>
  besideEachOther(TIERS.filter(({ name }) => names.length === 0 || names.includes(name))).map((tiers) =>
    tiers.map(({ name }) => name),
  );

describe("the tiers of tests", () => {
  it("run one after another, but real nodes beside what leaves them time", () => {
    assert.deepEqual(together(), [
      ["unit"],
      ["engine", "host", "rollout"],
      ["e2e", "clouds"],
      ["faults"],
      ["acceptance"],
    ]);
  });

  it("run by themselves when the tier beside them is not asked for", () => {
    assert.deepEqual(together("rollout"), [["rollout"]]);
    assert.deepEqual(together("rollout", "faults"), [["rollout"], ["faults"]]);
  });
});
