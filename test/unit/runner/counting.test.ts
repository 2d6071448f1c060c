import assert from "node:assert/strict";
import fc from "fast-check";
import { summarizeRun, type TierOutcome } from "../../counting";

const result = (passed: number, failed = 0, pending: { title: string; reason: string }[] = []) => ({
  passed,
  failures: Array.from({ length: failed }, () => ({ title: "a join", error: "Error: 1 !== 2" })),
  pending,
});

describe("the test runner's counting", () => {
  const rows: [string, TierOutcome[], number, string][] = [
    [
      "adds all tiers up",
      [
        { tier: "unit", result: result(3) },
        { tier: "e2e", result: result(2) },
      ],
      0,
      "5 passed, 0 failed",
    ],
    ["fails on one failed test", [{ tier: "unit", result: result(3, 1) }], 1, "3 passed, 1 failed"],
    ["counts a crash as a failure", [{ tier: "unit", breakage: "mocha ended" }], 1, "0 passed, 1 failed"],
    [
      "counts a process that would not end as a failure beside what passed",
      [{ tier: "unit", result: result(3), breakage: "hung" }],
      1,
      "3 passed, 1 failed",
    ],
    [
      "takes a run without any test for an error",
      [{ tier: "unit", result: result(0) }],
      2,
      "no test matches: nothing was run",
    ],
    [
      "takes an empty tier alone for an error",
      [{ tier: "e2e", leftOut: "no tests yet" }],
      2,
      "no test matches: nothing was run",
    ],
    [
      "lets one tier have no match when another has",
      [
        { tier: "unit", result: result(0) },
        { tier: "e2e", result: result(1) },
      ],
      0,
      "1 passed, 0 failed",
    ],
  ];
  for (const [name, outcomes, exitCode, last] of rows) {
    it(name, () => {
      const summary = summarizeRun(outcomes);
      assert.equal(summary.exitCode, exitCode);
      assert.equal(summary.lines.at(-1), last);
    });
  }

  it("reports before the last line what was left out, and why", () => {
    const pending = [{ title: "a cluster of five", reason: "needs 16 GiB" }];
    assert.deepEqual(
      summarizeRun(
        [
          { tier: "e2e", result: result(1, 0, pending) },
          { tier: "faults", leftOut: "it has no tests yet" },
        ],
        ["the nightly run"],
      ).lines,
      [
        "left out: e2e: a cluster of five: needs 16 GiB",
        "left out: faults: it has no tests yet",
        "left out: the nightly run",
        "1 passed, 0 failed",
      ],
    );
  });

  it("reports when each tier ran, and last each failure with its error", () => {
    const tiers = [
      { tier: "unit", result: result(1), ran: { from: 0.4, to: 59.9 } },
      { tier: "engine", result: result(2, 1), breakage: "hung", ran: { from: 60, to: 1319 } },
    ];
    assert.deepEqual(summarizeRun(tiers, ["the nightly run"]).lines, [
      "left out: the nightly run",
      "ran from 0:00 to 0:59: unit",
      "ran from 1:00 to 21:59: engine",
      "failed: engine: a join: Error: 1 !== 2",
      "engine broke: hung",
      "3 passed, 2 failed",
    ]);
  });

  it("never succeeds with a failure or a breakage, and never loses a passed test", () => {
    const outcome = fc.record({
      tier: fc.constant("unit"),
      result: fc.tuple(fc.nat(9), fc.nat(2)).map(([passed, failed]) => result(passed, failed)),
      broken: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(outcome), (drawn) => {
        const outcomes = drawn.map(({ tier, result: counts, broken }) => ({
          tier,
          result: counts,
          ...(broken ? { breakage: "broken" } : {}),
        }));
        const summary = summarizeRun(outcomes);
        const bad = drawn.some((each) => each.broken || each.result.failures.length > 0);
        assert.equal(
          summary.passed,
          drawn.reduce((total, each) => total + each.result.passed, 0),
        );
        return bad ? summary.exitCode === 1 : summary.exitCode !== 1;
      }),
    );
  });
});
