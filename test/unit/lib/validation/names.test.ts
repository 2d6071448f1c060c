import assert from "node:assert/strict";
import { nodeNameIssue } from "../../../../lib/validation/names";

describe("the name of a Node", () => {
  for (const name of ["w-1", "1", "w-1.example.com", "10.0.0.1", "a".repeat(63), `${"a".repeat(57)}.com-1`])
    it(`may be ${name}`, () => assert.equal(nodeNameIssue(name), undefined));

  const refused: [name: string, issue: RegExp][] = [
    ["", /must not be empty/],
    ["W-1", /is not the name of a Node/],
    ["w_1", /is not the name of a Node/],
    [".w-1", /is not the name of a Node/],
    ["w-1.", /is not the name of a Node/],
    ["w..1", /is not the name of a Node/],
    ["w-.example", /is not the name of a Node/],
    ["w-1 machine=w-2", /is not the name of a Node/],
    [`${"a".repeat(60)}.com`, /has 64 characters; write at most 63/],
  ];
  for (const [name, issue] of refused)
    it(`can't be ${JSON.stringify(name)}`, () => assert.match(nodeNameIssue(name) ?? "", issue));
});
