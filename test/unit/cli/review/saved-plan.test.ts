import assert from "node:assert/strict";
import {
  changesOutputs,
  makeSavedPlan,
  parseSavedPlan,
  UnreadablePlanError,
  withOutputsOf,
} from "../../../../cli/review/saved-plan";
import { change, previewOf } from "./changes";
import { UNKNOWN } from "../../../../lib/unknown";

const ref = { project: "foresail", stack: "prod" };
const reviewed = previewOf([change("workers", ["w-1: join as worker of workers, wait until Ready"])]);
const plan = makeSavedPlan(reviewed, ref, { resourcePlans: {} }, "0.1.0");

describe("a saved plan", () => {
  it("is read as it was written", () => {
    assert.deepEqual(parseSavedPlan(JSON.stringify(plan), ref), plan);
  });

  it("leaves unknown steps to the run, and binds all others", () => {
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

  it("leaves the steps of a group to the run that makes it, or prepares its machines", () => {
    const urn = (group: string) =>
      `urn:pulumi:prod::foresail::pulumi-nodejs:dynamic/foresail:NodeGroup::${group}`;
    const of = (steps: unknown, operation: string) => ({
      goal: { inputDiff: { [`${operation}s`]: { steps, lost: [] } } },
      steps: [operation],
    });
    const [join, write] = ["w-1: join as worker of a, wait until Ready", "w-1: write /etc/a"];
    const resourcePlans = {
      [urn("made")]: of([join], "create"),
      [urn("left")]: of([write, join], "update"),
      [urn("grown")]: of([join], "update"),
      [urn("owner").replace("NodeGroup", "ClusterOwner")]: of([write], "create"),
    };
    assert.deepEqual(makeSavedPlan(reviewed, ref, { resourcePlans }, "0.1.0").engine, {
      resourcePlans: {
        ...resourcePlans,
        [urn("made")]: of(UNKNOWN, "create"),
        [urn("left")]: of(UNKNOWN, "update"),
      },
    });
  });

  it("takes the stack's outputs as they would be now, and binds everything else", () => {
    const STACK = "urn:pulumi:prod::foresail::pulumi:pulumi:Stack::foresail-prod";
    const GROUP = "urn:pulumi:prod::foresail::pulumi-nodejs:dynamic/foresail:NodeGroup::workers";
    const planOf = (version: string, count: number) =>
      makeSavedPlan(
        reviewed,
        ref,
        {
          manifest: { version },
          resourcePlans: {
            [STACK]: {
              goal: { type: "pulumi:pulumi:Stack", outputDiff: count === 0 ? {} : { updates: { count } } },
              state: { count },
              seed: version,
            },
            [GROUP]: { goal: { outputDiff: { updates: { count } } }, state: { count } },
          },
        },
        "0.1.0",
      );
    const [before, now] = [planOf("reviewed", 1), planOf("now", 2)];
    assert.deepEqual(withOutputsOf(before, now).engine, {
      manifest: { version: "reviewed" },
      resourcePlans: {
        [STACK]: {
          goal: { type: "pulumi:pulumi:Stack", outputDiff: { updates: { count: 2 } } },
          state: { count: 2 },
          seed: "reviewed",
        },
        [GROUP]: { goal: { outputDiff: { updates: { count: 1 } } }, state: { count: 1 } },
      },
    });
    assert.deepEqual([now, planOf("now", 0), plan].map(changesOutputs), [true, false, false]);
    assert.deepEqual(withOutputsOf(plan, plan), plan);
  });

  const rows: [string, string, RegExp][] = [
    ["cut off", JSON.stringify(plan).slice(0, -9), /truncated/],
    ["of pulumi alone", '{"manifest":{},"resourcePlans":{}}', /not a plan of foresail/],
    ["null", "null", /not a plan of foresail/],
    [
      "of an older release",
      JSON.stringify({ ...plan, formatVersion: undefined, foresail: { format: 1, version: "0.1.0" } }),
      /foresail 0\.1\.0 wrote it in format 1, and this release reads format 2/,
    ],
    [
      "of a later format",
      JSON.stringify({ ...plan, formatVersion: 3, foresail: { version: "9.0.0" } }),
      /foresail 9\.0\.0 wrote it in format 3/,
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
          assert.match(error.message, /\. Preview and review again: foresail preview --save-plan FILE$/);
          return true;
        },
      );
    });
  }
});
