import assert from "node:assert/strict";
import fc from "fast-check";
import { isObject } from "../../../../lib/json";
import { isFromOver, mergeOver } from "../../../../lib/layers/merge";

describe("merge of a layer and a stack file", () => {
  const cases: [what: string, base: unknown, over: unknown, merged: unknown][] = [
    ["merges maps deeply", { a: { b: 1, c: 2 } }, { a: { c: 3, d: 4 } }, { a: { b: 1, c: 3, d: 4 } }],
    ["replaces lists", { a: [1, 2] }, { a: [3] }, { a: [3] }],
    [
      "removes what is null, which stays where the layer has nothing to remove",
      { a: 1, b: 2, e: null },
      { a: null, c: { d: null }, e: null },
      { b: 2, c: { d: null }, e: null },
    ],
    [
      "replaces a map by another kind of value, and the reverse",
      { a: { b: 1 }, c: 1 },
      { a: 1, c: { d: 2 } },
      { a: 1, c: { d: 2 } },
    ],
    ["keeps null in lists", { a: 1 }, { a: [null] }, { a: [null] }],
  ];
  for (const [what, base, over, merged] of cases)
    it(what, () => assert.deepEqual(mergeOver(base, over), merged));

  it("gives no object another prototype", () => {
    const merged = mergeOver({}, JSON.parse('{"a": {"__proto__": {"b": 1}}}')) as { a: { b?: number } };
    assert.equal(merged.a.b, undefined);
    assert.equal(Object.getPrototypeOf(merged.a), Object.prototype);
  });

  const value = fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<unknown>;
  const map = fc.dictionary(fc.constantFrom("a", "b", "c"), value);

  it("changes nothing that the stack file does not name, and merging twice changes nothing more (property)", () => {
    fc.assert(
      fc.property(map, map, (base, over) => {
        const merged = mergeOver(base, over) as Record<string, unknown>;
        // a null that removed a field stays the second time
        if (!JSON.stringify(over).includes("null")) assert.deepEqual(mergeOver(merged, over), merged);
        for (const key of Object.keys(base).filter((name) => !Object.hasOwn(over, name)))
          assert.deepEqual(merged[key], base[key]);
      }),
    );
  });

  it("finds each value in the file that it names as its source (property)", () => {
    fc.assert(
      fc.property(map, map, (base, over) => {
        const visit = (merged: unknown, path: string[]): void => {
          if (isObject(merged) && Object.keys(merged).length > 0)
            return Object.entries(merged).forEach(([key, below]) => visit(below, [...path, key]));
          const source = isFromOver(base, over, path) ? over : base;
          const found = path.reduce<unknown>((at, key) => (at as Record<string, unknown>)?.[key], source);
          // a map of which null removed everything is empty in the merged value only
          if (!isObject(merged)) assert.deepEqual(found, merged);
        };
        visit(mergeOver(base, over), []);
      }),
    );
  });
});
