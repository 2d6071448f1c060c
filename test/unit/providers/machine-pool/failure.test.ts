import assert from "node:assert/strict";
import { failureOf, terminalFailure } from "../../../../providers/machine-pool/plan/observed";

describe("the terminal failure of a Cluster API object", () => {
  const failure = { failureReason: "CreateError", failureMessage: "no flavor" };
  const table: [what: string, status: object | undefined, words: string | undefined][] = [
    ["no status", undefined, undefined],
    ["neither", { ready: true }, undefined],
    ["empty words", { failureReason: "", failureMessage: "" }, undefined],
    ["reason and message", failure, "CreateError: no flavor"],
    ["a reason alone", { failureReason: "CreateError" }, "CreateError"],
    ["a message alone", { failureMessage: "no flavor" }, "no flavor"],
    ["v1beta2's older fields", { deprecated: { v1beta1: failure } }, "CreateError: no flavor"],
  ];
  for (const [what, status, words] of table)
    it(`is ${words ?? "nothing"}: ${what}`, () => {
      assert.equal(failureOf({ ...(status && { status }) }), words);
    });

  it("is ignored while its controller has not observed the current specification", () => {
    const seen = (observedGeneration?: number) =>
      terminalFailure({
        metadata: { generation: 3 },
        status: { ...failure, ...(observedGeneration && { observedGeneration }) },
      });
    assert.deepEqual(
      [seen(2), seen(3), seen()],
      [undefined, ...Array<string>(2).fill("CreateError: no flavor")],
    );
  });
});
