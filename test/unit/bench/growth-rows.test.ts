import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { growthRows } from "../../../bench/growth-rows";

describe("rows of a cost that grows", () => {
  const rowsOf = (many: number[]) =>
    growthRows("`up`", "s", [
      { size: 100, costs: [9, 10, 30] },
      { size: 500, costs: many },
    ]);

  it("have one row for each size, with the median of its runs", () => {
    assert.deepEqual(
      rowsOf([50]).map(({ what, unit, figure }) => [what, unit, figure.median]),
      [
        ["`up`, 100 machines", "s", 10],
        ["`up`, 500 machines", "s", 50],
      ],
    );
  });

  for (const [many, exponent, reached] of [
    [10, "0.00", true],
    [50, "1.00", true],
    [60, "1.11", false],
    [250, "2.00", false],
  ] as const)
    it(`report at the last one that ${many} s at five times 10 s ${reached ? "are" : "are not"} linear`, () => {
      assert.deepEqual(
        rowsOf([many]).map(({ wanted }) => wanted),
        [undefined, { words: `growth ≤ 1; it is ${exponent}`, reached }],
      );
    });
});
