import assert from "node:assert/strict";
import fc from "fast-check";
import { mostThatFit } from "../../../../lib/text/fit";

describe("the number of parts that fit", () => {
  it("is the largest one, or -1 for none", () => {
    fc.assert(
      fc.property(fc.nat({ max: 200 }), fc.integer({ min: -1, max: 300 }), (most, limit) => {
        assert.equal(
          mostThatFit(most, (count) => count <= limit),
          Math.min(most, limit),
        );
      }),
    );
  });
});
