import assert from "node:assert/strict";
import Ajv from "ajv";
import { matchesPattern, readFleet } from "../../../../cli/fleet/plan/fleet";
import { fleetJsonSchema } from "../../../../scripts/configuration-schema";
import { formatPath } from "../../../../lib/validation/validation-issue";

const STACKS = ["dev", "prod-ap1", "prod-eu1", "prod-eu2"];
const issuesOf = (value: unknown) =>
  readFleet(value, STACKS).issues.map(({ path, message }) => `${formatPath(path)}: ${message}`);

describe("fleet.yaml", () => {
  it("finds stacks by name and pattern; a pattern leaves what is named elsewhere", () => {
    const { fleet } = readFleet(
      {
        waves: [
          { name: "all", stacks: ["prod-*"] },
          { name: "last", stacks: ["prod-eu2"] },
        ],
      },
      STACKS,
    );
    assert.deepEqual(
      fleet?.waves.map(({ stacks }) => stacks),
      [["prod-ap1", "prod-eu1"], ["prod-eu2"]],
    );
    assert.deepEqual([fleet.maxParallel, fleet.onFailure], [2, "stop"]);
  });

  const refused: [what: string, value: unknown, said: RegExp][] = [
    ["an empty file", null, /^waves: is missing; write a list$/],
    [
      "an unknown field",
      { waves: [{ name: "a", stacks: ["dev"] }], wave: 1 },
      /^wave: is not known; did you mean "waves"\?$/,
    ],
    [
      "a stack that does not exist",
      { waves: [{ name: "a", stacks: ["prod-eu3"] }] },
      /^waves\[0\]\.stacks\[0\]: there is no stack "prod-eu3"; did you mean "prod-eu1"\?$/,
    ],
    [
      "a pattern without a match",
      { waves: [{ name: "a", stacks: ["test-*"] }] },
      /^waves\[0\]\.stacks\[0\]: "test-\*" matches no stack/,
    ],
    [
      "a stack in two waves",
      {
        waves: [
          { name: "a", stacks: ["dev"] },
          { name: "b", stacks: ["dev"] },
        ],
      },
      /^waves\[1\]\.stacks\[0\]: "dev" is in the wave a, too; remove one$/,
    ],
    [
      "two waves of a name",
      {
        waves: [
          { name: "a", stacks: ["dev"] },
          { name: "a", stacks: ["prod-*"] },
        ],
      },
      /^waves\[1\]\.name: "a" is listed twice/,
    ],
    [
      "a command without a shell in one text",
      { waves: [{ name: "a", stacks: ["dev"], gate: { command: "true" } }] },
      /^waves\[0\]\.gate\.command: is the text "true"; write a list$/,
    ],
  ];
  for (const [what, value, said] of refused)
    it(`refuses ${what}`, () => {
      const [line = "", ...others] = issuesOf(value);
      assert.match(line, said);
      assert.deepEqual(others, []);
    });

  it("matches patterns from end to end", () => {
    for (const [name, pattern, expected] of [
      ["prod-eu1", "prod-*", true],
      ["prod-eu1", "*eu*", true],
      ["prod-eu1", "prod", false],
      ["a", "a*a", false],
      ["aa", "a*a", true],
      ["abcbc", "a*bc", true],
      ["x.y", "x*y", true],
      ["xay", "x.y", false],
    ] as const)
      assert.equal(matchesPattern(name, pattern), expected, `${name} ${pattern}`);
  });

  it("has a schema for editors", () => {
    const validate = new Ajv().compile(fleetJsonSchema());
    assert.equal(validate({ waves: [{ name: "a", stacks: ["dev"], gate: { soakSeconds: 5 } }] }), true);
    assert.equal(validate({ waves: [{ name: "a", stacks: [] }] }), false);
    assert.equal(validate({ waves: [{ name: "a", stacks: ["dev"], gaet: {} }] }), false);
  });
});
