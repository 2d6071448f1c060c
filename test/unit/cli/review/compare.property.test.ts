import assert from "node:assert/strict";
import fc from "fast-check";
import type { ReviewedChange } from "../../../../cli/review/steps";
import { compareReview, unreviewedStep as unreviewedStepOf } from "../../../../cli/review/compare";
import { change } from "./changes";

const line = fc.constantFrom(..."abcdefgh").map((machine) => `${machine}: do it`);
const unreviewedStep = (reviewed: string[], current: string[]) =>
  unreviewedStepOf("NodeGroup", reviewed, current);
const lines = fc.array(line, { maxLength: 8 });
const operation = fc.constantFrom("create", "update", "replace", "delete" as const);

/** Reviews of resources with different names, each with its own steps and inputs. */
const review = fc.uniqueArray(
  fc.record({
    name: fc.constantFrom("r1", "r2", "r3", "r4"),
    steps: lines,
    operation,
    desired: fc.nat({ max: 3 }),
  }),
  { selector: ({ name }) => name, maxLength: 4 },
);
type Given = { name: string; steps: string[]; operation: string; desired: number };
const changesOf = (given: readonly Given[]): ReviewedChange[] =>
  given.map(({ name, steps, operation, desired }) =>
    change(name, steps, { operation: operation as ReviewedChange["operation"], inputs: { desired } }),
  );

/** The same rule in other words: can the shorter list be derived from the longer one by deleting lines? */
function isPart(shorter: readonly string[], longer: readonly string[]): boolean {
  const [first, ...rest] = shorter;
  if (first === undefined) return true;
  return longer.some((each, index) => each === first && isPart(rest, longer.slice(index + 1)));
}

describe("a review, whatever it contains", () => {
  it("is the same as itself", () => {
    fc.assert(
      fc.property(review, (given) => compareReview(changesOf(given), changesOf(given)).kind === "same"),
    );
  });

  it("accepts steps exactly when they are a subsequence of the reviewed ones", () => {
    fc.assert(
      fc.property(lines, lines, (reviewed, current) => {
        assert.equal(unreviewedStep(reviewed, current) === undefined, isPart(current, reviewed));
      }),
      { numRuns: 2_000 },
    );
  });

  it("accepts what is left after some resources and some steps are done", () => {
    fc.assert(
      fc.property(review, fc.array(fc.boolean(), { minLength: 40, maxLength: 40 }), (given, keeps) => {
        let next = 0;
        const keep = () => keeps[next++ % keeps.length]!;
        const left = given.filter(keep).map((each) => ({ ...each, steps: each.steps.filter(keep) }));
        const { kind } = compareReview(changesOf(given), changesOf(left));
        const steps = (of: readonly Given[]) => of.reduce((sum, { steps }) => sum + steps.length, 0);
        const isWhole = left.length === given.length && steps(left) === steps(given);
        assert.equal(kind, isWhole ? "same" : left.length === 0 ? "nothing left" : "remainder");
      }),
    );
  });

  it("refuses an unreviewed step, resource, operation or input, wherever it appears", () => {
    fc.assert(
      fc.property(
        review.filter((given) => given.length > 0),
        fc.nat(),
        fc.nat(),
        fc.constantFrom("step", "resource", "operation", "input"),
        (given, which, where, what) => {
          const current: Given[] = given.map((each) => ({
            ...each,
            steps: [...each.steps],
            operation: "update",
          }));
          const reviewed: Given[] = given.map((each) => ({ ...each, operation: "update" }));
          const one = current[which % current.length]!;
          if (what === "step") one.steps.splice(where % (one.steps.length + 1), 0, "z: something else");
          if (what === "resource") current.push({ ...one, name: "r9" });
          if (what === "operation") one.operation = "delete";
          if (what === "input") one.desired += 1;
          assert.equal(compareReview(changesOf(reviewed), changesOf(current)).kind, "moved");
        },
      ),
    );
  });

  it("accepts transitively: the remainder of a remainder is a remainder of the whole", () => {
    fc.assert(
      fc.property(lines, lines, lines, (whole, part, last) => {
        fc.pre(unreviewedStep(whole, part) === undefined && unreviewedStep(part, last) === undefined);
        assert.equal(unreviewedStep(whole, last), undefined);
      }),
    );
  });
});
