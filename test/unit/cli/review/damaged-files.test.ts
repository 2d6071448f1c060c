import assert from "node:assert/strict";
import fc from "fast-check";
import { NotAPreviewError, readPreview } from "../../../../cli/review/preview";
import {
  changesOutputs,
  makeSavedPlan,
  parseSavedPlan,
  UnreadablePlanError,
  withOutputsOf,
} from "../../../../cli/review/saved-plan";
import { change, previewOf } from "./changes";

const REF = { project: "foresail", stack: "prod" };
const STACK = "urn:pulumi:prod::foresail::pulumi:pulumi:Stack::foresail-prod";
const PLAN = makeSavedPlan(
  previewOf([change("workers", ["w-1: join as worker of workers, wait until Ready"])]),
  REF,
  { resourcePlans: { [STACK]: { goal: { outputDiff: { adds: {} } }, state: {} } } },
  "0.1.0",
);
const PREVIEW = {
  steps: [
    {
      op: "update",
      urn: STACK,
      oldState: { inputs: {} },
      newState: { type: "t", inputs: { steps: ["a: b"] } },
    },
  ],
  diagnostics: [{ urn: STACK, message: "error: x", severity: "error" }],
  changeSummary: { same: 3 },
};
const OTHERS = [null, 1, "x", [], {}, [null], { x: null }, true];

/** Returns the places of a value, as lists of keys. */
function placesIn(value: unknown, at: string[] = []): string[][] {
  if (typeof value !== "object" || value === null) return [at];
  return [at, ...Object.entries(value).flatMap(([key, each]) => placesIn(each, [...at, key]))];
}

/** Returns a copy in which another value is at a place. */
function replaced(value: unknown, [key, ...rest]: string[], other: unknown): unknown {
  if (key === undefined) return other;
  const copy = structuredClone(value) as Record<string, unknown>;
  copy[key] = replaced(copy[key], rest, other);
  return copy;
}

/** Reads every damaged form of a file. @param read may throw errors of this class only */
function damage(
  file: unknown,
  refusal: new (...words: never[]) => Error,
  read: (text: string) => void,
): void {
  const attempt = (text: string) => {
    try {
      read(text);
    } catch (error) {
      assert.ok(error instanceof refusal, `${(error as Error).stack}\nfor ${text}`);
    }
  };
  for (const place of placesIn(file))
    for (const other of OTHERS) attempt(JSON.stringify(replaced(file, place, other)));
  const whole = JSON.stringify(file);
  for (let length = 0; length < whole.length; length++) attempt(whole.slice(0, length));
  fc.assert(fc.property(fc.oneof(fc.string(), fc.json()), (text) => attempt(text)));
}

describe("a damaged file of a review", () => {
  it("is refused, or read: a saved plan", () => {
    damage(PLAN, UnreadablePlanError, (text) => {
      const plan = parseSavedPlan(text, REF);
      changesOutputs(plan);
      withOutputsOf(plan, PLAN);
      withOutputsOf(PLAN, plan);
    });
  });

  it("is refused, or read: a preview of the engine", () => {
    damage(PREVIEW, NotAPreviewError, readPreview);
  });
});
