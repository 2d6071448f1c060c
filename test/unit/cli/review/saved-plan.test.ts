import assert from "node:assert/strict";
import { makeSavedPlan, parseSavedPlan, UnreadablePlanError } from "../../../../cli/review/saved-plan";
import { change, previewOf } from "./changes";
import { UNKNOWN } from "../../../../lib/unknown";

const ref = { project: "foresail", stack: "prod" };
const reviewed = previewOf([change("workers", ["w-1: join as worker of workers, wait until Ready"])]);
const plan = makeSavedPlan(reviewed, ref, { resourcePlans: {} }, "0.1.0");

describe("a saved plan", () => {
  it("comes back as it was written", () => {
    assert.deepEqual(parseSavedPlan(JSON.stringify(plan), ref), plan);
  });

  it("leaves to the run what the preview could not know, and binds all other steps", () => {
    const engine = {
      resourcePlans: {
        first: {
          goal: { inputDiff: { adds: { steps: ["unknown until the cluster exists; wanted: w-1"] } } },
        },
        second: { goal: { inputDiff: { updates: { steps: ["w-1: label zone=a"] } } }, steps: ["update"] },
      },
    };
    assert.deepEqual(makeSavedPlan(reviewed, ref, engine, "0.1.0").engine, {
      resourcePlans: {
        first: { goal: { inputDiff: { adds: { steps: UNKNOWN } } } },
        second: { goal: { inputDiff: { updates: { steps: ["w-1: label zone=a"] } } }, steps: ["update"] },
      },
    });
  });

  const rows: [string, string, RegExp][] = [
    ["cut off", JSON.stringify(plan).slice(0, -9), /was cut off/],
    ["of pulumi alone", '{"manifest":{},"resourcePlans":{}}', /no plan of foresail's/],
    ["null", "null", /no plan of foresail's/],
    [
      "of a later format",
      JSON.stringify({ ...plan, foresail: { format: 2, version: "9.0.0" } }),
      /9\.0\.0 wrote it/,
    ],
    ["with damaged steps", JSON.stringify({ ...plan, reviewed: [{ urn: "x" }] }), /damaged/],
    ["of another stack", JSON.stringify({ ...plan, stack: "dev" }), /of the stack dev, not of prod/],
    [
      "of another project",
      JSON.stringify({ ...plan, project: "other" }),
      /of the project other, not of foresail/,
    ],
  ];
  for (const [name, text, words] of rows) {
    it(`${name} is refused, with what to do`, () => {
      assert.throws(
        () => parseSavedPlan(text, ref),
        (error: Error) => {
          assert.ok(error instanceof UnreadablePlanError);
          assert.match(error.message, words);
          assert.match(error.message, /make a new one with foresail preview --save-plan$/);
          return true;
        },
      );
    });
  }
});
