import assert from "node:assert/strict";
import fc from "fast-check";
import type { Line } from "../../../../lib/steps/line";
import { commonSteps, laterLines } from "../../../../lib/steps/steps";
import { TABLES } from "../../../../cli/review/steps";
import { nodeGroupSteps, nodeRolloutSteps } from "../../../../providers/kubeadm/plan/steps";

/** Generates values for all placeholders of a line. */
function fieldsOf(line: Line<unknown>): fc.Arbitrary<object> {
  const values = line.parts.map((part) =>
    fc.stringMatching(new RegExp(`^${part.pattern}$`)).map((text) => part.parse(text) as object),
  );
  return fc.tuple(...values).map((all): object => Object.assign({}, ...all) as object);
}

for (const [name, table] of Object.entries({ commonSteps, ...TABLES }))
  describe(`the steps of ${name}`, () => {
    for (const [kind, line] of Object.entries(table.lines))
      it(`are parsed as they were formatted: ${kind}`, () => {
        const { format, parse } = table;
        fc.assert(
          fc.property(fieldsOf(line), (fields) => {
            const step = { kind, ...fields } as Parameters<typeof format>[0];
            assert.deepEqual(parse(format(step)), step);
            const others = Object.entries(table.lines).filter(([other]) => other !== kind);
            for (const [other, one] of others)
              assert.equal(one.parse(format(step)), undefined, `${format(step)} is also ${other}`);
          }),
        );
      });
  });

describe("unknown lines", () => {
  it("are not parsed", () => {
    for (const words of ["", "w-1: do something else", "w-1:join as worker of a, wait until Ready"])
      assert.equal(nodeGroupSteps.parse(words), undefined);
  });

  it("are not formatted", () => {
    const step = { kind: "join", machine: "w-1", pool: "a" } as never;
    assert.throws(() => nodeRolloutSteps.format(step), /no line is defined for steps of the kind join/);
  });
});

describe("the lines of later runs", () => {
  it("name their run and contain the line", () => {
    const lines = laterLines([{ lines: ["a", "b: c"] }, { lines: ["d"] }, { lines: ["e"] }]);
    assert.deepEqual(lines, [
      "then, in the next run: a",
      "then, in the next run: b: c",
      "then, in the run after it: d",
      "then, in run 4: e",
    ]);
    assert.deepEqual(commonSteps.parse(lines[1] ?? ""), {
      kind: "later",
      run: "in the next run",
      line: "b: c",
    });
  });
});
