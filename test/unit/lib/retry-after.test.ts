import assert from "node:assert/strict";
import { retryAfterSeconds } from "../../../lib/retry-after";

describe("the wait that a server asks for", () => {
  const now = Date.parse("2026-01-01T00:00:00Z");
  const cases: [asked: string | string[] | undefined, seconds: number][] = [
    [undefined, 0],
    ["", 0],
    ["7", 7],
    [["7", "9"], 7],
    ["-7", 0],
    ["soon 7", 0],
    ["Thu, 01 Jan 2026 00:00:30 GMT", 30],
    ["Wed, 31 Dec 2025 23:59:00 GMT", 0],
  ];
  for (const [asked, seconds] of cases)
    it(`is ${seconds} s for ${JSON.stringify(asked)}`, () =>
      assert.equal(retryAfterSeconds({ headers: { "retry-after": asked } }, now), seconds));
});
