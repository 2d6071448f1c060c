import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import fc from "fast-check";
import { stringify } from "yaml";
import { parseJson } from "../../../lib/json";
import { parseYaml, readYaml, YamlIssue } from "../../../lib/yaml";

/** Texts that cost a parser more than their length, and why each is refused. */
const HOSTILE: readonly (readonly [name: string, text: string, issue: RegExp])[] = [
  ["nested complex keys", `- ${"? ".repeat(300)}x`, /nested more than 100 levels/],
  ["a few nested complex keys", `${"? ".repeat(40)}x`, /a key that is not a text at line 1/],
  ["complex keys in braces", `${"{? ".repeat(40)}x${"}".repeat(40)}`, /a key that is not a text/],
  ["lists as keys", "[a, b]: c", /a key that is not a text/],
  ["nested lists", "- ".repeat(50_000), /nested more than 100 levels/],
  ["nested brackets", "[".repeat(100_000), /nested more than 100 levels/],
  ["nested maps", "{a: ".repeat(5_000), /nested more than 100 levels/],
  ["commas", `[${",".repeat(500_000)}`, /is not YAML: unexpected ,.* at line 1, column 3/],
  ["anchors on one node", "&a ".repeat(200_000), /at most one anchor/],
  ["tags on one node", "!a ".repeat(200_000), /at most one tag/],
  ["aliases", `- &a b\n${"- *a\n".repeat(100_000)}`, /too many aliases/],
  [
    "aliases of aliases",
    ["- &a0 [x]", ...Array.from({ length: 30 }, (_, at) => `- &a${at + 1} [*a${at}, *a${at}]`)].join("\n"),
    /too many aliases/,
  ],
  ["a key that is there twice", "a: 1\nb:\n  c: 1\n  c: 2", /map keys must be unique at line 4, column 3/],
  ["several documents", "a: 1\n---\nb: 1", /several documents/],
  ["another version", "%YAML 1.1\n---\na: yes", /another version/],
  ["too much", `a: ${"x".repeat(5 * 2 ** 20)}`, /larger than 4 MiB/],
];

/** How a hostile text is made of parts. */
const PARTS = [
  "? ",
  "- ",
  "[",
  "{",
  "a: ",
  ": ",
  ", ",
  "]",
  "}",
  "&a ",
  "*a ",
  "!t ",
  '"',
  "'",
  "|\n",
  "#",
  "\n",
  "  ",
  "x",
];
const randomText = fc
  .array(fc.tuple(fc.constantFrom(...PARTS), fc.integer({ min: 1, max: 60 })), { maxLength: 40 })
  .map((parts) => parts.map(([part, count]) => part.repeat(count)).join(""));

const sizeOf = (value: unknown): number =>
  typeof value === "object" && value !== null
    ? Object.values(value).reduce((sum: number, each) => sum + sizeOf(each), 1)
    : 1;
const depthOf = (value: unknown): number =>
  typeof value === "object" && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0;

describe("the reader of YAML from outside", () => {
  for (const [name, text, issue] of HOSTILE)
    it(`refuses ${name} in the time of one pass over the text`, () => {
      const before = process.cpuUsage();
      assert.throws(
        () => readYaml(text),
        (error) => error instanceof YamlIssue && issue.test(error.message),
      );
      assert.ok(process.cpuUsage(before).user < 8_000_000);
    });

  it("returns no more values than a random text has characters, or refuses it with one sentence", () => {
    fc.assert(
      fc.property(randomText, (text) => {
        try {
          const value = readYaml(text, { aliases: 0 });
          assert.ok(sizeOf(value) <= text.length + 1);
          assert.ok(depthOf(value) <= 101);
        } catch (error) {
          assert.ok(error instanceof YamlIssue, String(error));
          assert.match(error.message, /^(?:is|has) [^\n]{1,200}$/);
        }
      }),
      { numRuns: 300 },
    );
  });

  it("reads what YAML writes", () => {
    const plain = fc.jsonValue({ maxDepth: 4 }).filter((value) => !JSON.stringify(value).includes("-0"));
    fc.assert(
      fc.property(plain, (value) => assert.deepEqual(readYaml(stringify(value)), value)),
      { numRuns: 200 },
    );
    const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`key-${at}`, at]));
    assert.deepEqual(readYaml(stringify(many)), many);
  });

  it("merges maps only where the caller wants it, also several", () => {
    const text = "a: &a {x: 1}\nb: &b {y: 1}\nc:\n  <<: *a\n  <<: *b\n  z: 1";
    assert.deepEqual((readYaml(text, { merge: true }) as { c: unknown }).c, { x: 1, y: 1, z: 1 });
    assert.equal(parseYaml(text), undefined);
  });

  it("repeats nothing of the text in its issues", () => {
    for (const text of [
      "a: [hidden-value",
      "a: b: hidden-value",
      '"hidden-value',
      "a: |x hidden-value",
      "@hidden-value",
    ])
      assert.throws(
        () => readYaml(text),
        ({ message }: Error) => !message.includes("hidden-value"),
        text,
      );
  });

  it("prints no warning", async () => {
    const program = `require(${JSON.stringify(path.resolve("bin/lib/yaml.js"))}).readYaml("a: !unknown hidden-value")`;
    const { stderr } = await promisify(execFile)(process.execPath, ["-e", program]);
    assert.equal(stderr, "");
  });
});

describe("JSON from outside", () => {
  it("is read up to a depth that every walk through it survives", () => {
    const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
    assert.deepEqual(parseJson('{"a":"[[{\\"","b":[1]}'), { a: '[[{"', b: [1] });
    assert.ok(Array.isArray(parseJson(nested(500))));
    assert.equal(parseJson(nested(501)), undefined);
    assert.equal(parseJson(nested(200_000)), undefined);
    assert.deepEqual(parseJson(JSON.stringify(Array(1_000).fill([[]]))), Array(1_000).fill([[]]));
  });
});
