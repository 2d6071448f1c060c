import assert from "node:assert/strict";
import fc from "fast-check";
import { cutList, listed } from "../../../../lib/text/quote";

describe("lists in messages", () => {
  const names = (count: number) => Array.from({ length: count }, (_, index) => `w-${index}`);

  it("show at most twelve entries and the number of the others", () => {
    assert.equal(listed(names(0)), "");
    assert.equal(listed(names(2)), "w-0, w-1");
    assert.equal(listed(names(12)), names(12).join(", "));
    assert.equal(listed(names(100)), `${names(12).join(", ")} and 88 more`);
    assert.equal(listed(names(5), { most: 3, separator: "; " }), "w-0; w-1; w-2 and 2 more");
    assert.equal(cutList(["a\nb", "c", "d"], "\n", 2), "a\nb\nc and 1 more");
  });

  it("have a limited length and no invisible character, whatever the names are", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: "binary", maxLength: 500 })), (texts) => {
        const text = listed(texts);
        assert.doesNotMatch(text, /\p{C}/u);
        assert.ok(text.length < 12 * 81 * 10 + 100);
      }),
    );
  });
});
