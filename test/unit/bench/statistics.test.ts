import assert from "node:assert/strict";
import fc from "fast-check";
import { describe, it } from "mocha";
import { growth, pairedRatio, summarize } from "../../../bench/statistics";

const figures = fc.array(fc.double({ min: 0.001, max: 1e6, noNaN: true }), { minLength: 1 });

describe("statistics of runs", () => {
  for (const [runs, median] of [
    [[3], 3],
    [[3, 1], 2],
    [[9, 1, 2], 2],
    [[4, 1, 3, 2], 2.5],
  ] as [number[], number][]) {
    it(`returns ${median} as the median of ${runs.join(", ")}`, () => {
      assert.equal(summarize(runs).median, median);
    });
  }

  it("keeps the median between the least and the most, in whatever order the runs came", () => {
    fc.assert(
      fc.property(figures, (runs) => {
        const { least, median, most } = summarize(runs);
        assert.ok(least <= median && median <= most);
        assert.deepEqual(summarize([...runs].reverse()), summarize(runs));
      }),
    );
  });

  it("compares each run with its own counterpart, so that a slow moment counts for both", () => {
    assert.equal(pairedRatio([1, 10, 2], [1.5, 15, 3]).median, 1.5);
    assert.throws(() => pairedRatio([1, 2], [1]), /counterpart/);
    assert.throws(() => pairedRatio([], []), /nothing/);
  });

  it("distinguishes linear, constant and quadratic growth", () => {
    const at = (cost: (size: number) => number) =>
      growth([2, 10, 100].map((size) => ({ size, cost: cost(size) })));
    assert.ok(Math.abs(at((size) => 7 * size) - 1) < 1e-9);
    assert.equal(
      at(() => 7),
      0,
    );
    assert.ok(Math.abs(at((size) => size * size) - 2) < 1e-9);
    assert.throws(() => growth([{ size: 2, cost: 1 }]), /two sizes/);
  });
});
