import assert from "node:assert/strict";
import { unsettled } from "../../../../providers/machine-pool/plan/observed";

describe("the machine counts of an infrastructure object", () => {
  const ready = (status: string, more: object = {}) => [{ type: "Ready", status, ...more }];
  const table: [what: string, status: object | undefined, words: string | undefined][] = [
    ["nothing, as before its controller's first look", undefined, undefined],
    ["no generation, and Ready", { conditions: ready("True") }, undefined],
    ["this generation", { observedGeneration: 3 }, undefined],
    [
      "this generation, and Ready unknown",
      { observedGeneration: 3, conditions: ready("Unknown") },
      undefined,
    ],
    [
      "an older generation, though Ready",
      { observedGeneration: 2, conditions: ready("True") },
      "its controller has not seen the change yet",
    ],
    ["not Ready, without a reason", { conditions: ready("False") }, "Ready is False"],
    [
      "not Ready, and why",
      { observedGeneration: 3, conditions: ready("False", { reason: "Rolling", message: "1 of 2" }) },
      "Ready is False (Rolling: 1 of 2)",
    ],
  ];
  for (const [what, status, words] of table)
    it(`${words === undefined ? "settled" : "unsettled"}: ${what}`, () => {
      assert.equal(unsettled({ metadata: { generation: 3 }, ...(status && { status }) }), words);
    });
});
