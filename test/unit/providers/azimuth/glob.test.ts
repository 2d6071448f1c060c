import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import fc from "fast-check";
import { matchesGlob } from "../../../../providers/azimuth/plan/glob";

/** [pattern, text, what Python 3.11's fnmatch.fnmatchcase answers] a line. */
const RECORDED = resolve(__dirname, "../../../../../test/fixtures/azimuth/globs.jsonl");

/** The rules of "*", "?" and "[ab]" word by word, without regard to run time. */
function slowly(pattern: string[], text: string[]): boolean {
  const [part, ...rest] = pattern;
  const [character, ...others] = text;
  if (part === undefined) return character === undefined;
  if (part === "*") return slowly(rest, text) || (character !== undefined && slowly(pattern, others));
  if (character === undefined) return false;
  const listed = part.startsWith("[!") ? !part.includes(character, 2) : part.includes(character, 0);
  return (part === "?" || listed) && slowly(rest, others);
}

describe("globs of node group overrides", () => {
  it("answer as Python's fnmatch does", () => {
    const lines = readFileSync(RECORDED, "utf8").trimEnd().split("\n");
    assert.equal(lines.length, 600);
    const wrong = lines.filter((line) => {
      const [pattern, text, wanted] = JSON.parse(line) as [string, string, boolean];
      return matchesGlob(pattern, text) !== wanted;
    });
    assert.deepEqual(wrong, []);
  });

  it("answer as a slow reference does", () => {
    const part = fc.constantFrom("*", "?", "a", "b", "[ab]", "[!a]", "[!ab]");
    const character = fc.constantFrom("a", "b", "c");
    fc.assert(
      fc.property(
        fc.array(part, { maxLength: 7 }),
        fc.array(character, { maxLength: 7 }),
        (pattern, text) => {
          assert.equal(matchesGlob(pattern.join(""), text.join("")), slowly(pattern, text));
        },
      ),
      { numRuns: 2000 },
    );
  });

  it("are answered at once, whatever the pattern and the text are", () => {
    const text = "a".repeat(20_000);
    for (const stars of [7, 60, 200]) {
      const start = performance.now();
      assert.equal(matchesGlob(`${"*a".repeat(stars)}*b`, text), false);
      assert.equal(matchesGlob(`${"a*".repeat(stars)}b`, text), false);
      assert.equal(matchesGlob(`${"*[!b]?".repeat(stars)}*b`, text), false);
      assert.ok(performance.now() - start < 1000, `${stars} stars`);
    }
    const any = fc.string({
      unit: fc.constantFrom("a", "b", "-", "*", "?", "[", "]", "!", "\\"),
      maxLength: 30,
    });
    fc.assert(
      fc.property(any, any, (pattern, found) => void matchesGlob(pattern, found)),
      { numRuns: 2000 },
    );
  });
});
