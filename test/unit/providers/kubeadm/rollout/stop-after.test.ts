import assert from "node:assert/strict";
import {
  endsInTime,
  stopAfterIssue,
  stopTime,
} from "../../../../../providers/kubeadm/plan/rollout/stop-after";

describe("the end of a rollout's time", () => {
  const begun = new Date(2026, 0, 5, 22, 30);

  it("is a duration after its start", () => {
    assert.equal(stopTime("2h", begun).getTime() - begun.getTime(), 7_200_000);
    assert.equal(stopTime("1h30m", begun).getTime() - begun.getTime(), 5_400_000);
    assert.equal(stopTime("45s", begun).getTime() - begun.getTime(), 45_000);
  });

  it("is the next occurrence of that time", () => {
    assert.deepEqual(stopTime("06:00", begun), new Date(2026, 0, 6, 6, 0));
    assert.deepEqual(stopTime("23:15", begun), new Date(2026, 0, 5, 23, 15));
    assert.deepEqual(stopTime("22:30", begun), new Date(2026, 0, 6, 22, 30));
  });

  it("begins no node that would end later if it took as long as the longest so far", () => {
    const stop = stopTime("10m", begun);
    const after = (minutes: number) => new Date(begun.getTime() + minutes * 60_000);
    assert.equal(endsInTime(stop, after(5), 240), true);
    assert.equal(endsInTime(stop, after(5), 300), false);
    assert.equal(endsInTime(stop, after(11), 0), false);
  });

  for (const text of ["", "2", "24:00", "6:00", "0h", "2h 30m", "-1h"])
    it(`is not "${text}"`, () => {
      assert.match(stopAfterIssue(text) ?? "", /is neither a duration nor a time of day; write e\.g\./);
      assert.throws(() => stopTime(text, begun), RangeError);
    });
});
