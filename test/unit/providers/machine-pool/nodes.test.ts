import assert from "node:assert/strict";
import {
  type ObservedPoolNode,
  secondsUntilAvailable,
} from "../../../../providers/machine-pool/plan/evaluation";

describe("remaining time for which nodes must be Ready before they are available", () => {
  const now = Date.parse("2024-05-01T00:01:00Z");
  const node = (index: number, since?: string) => ({
    name: `n${index}`,
    providerID: `x://${index}`,
    isReady: true,
    ...(since === undefined ? {} : { since: `2024-05-01T00:00:${since}Z` }),
  });
  const table: [what: string, nodes: ObservedPoolNode[], minReadySeconds: number, seconds: number][] = [
    ["it is not configured", [node(0, "59")], 0, 0],
    ["there is no node", [], 30, 0],
    ["the last of them has been", [node(0, "10"), node(1, "20")], 30, 0],
    ["one of them has not been", [node(0, "10"), node(1, "50")], 30, 20],
    ["that one is another pool's", [node(0, "10"), node(7, "50")], 30, 0],
    ["a clock is ahead", [{ ...node(0), since: "2024-05-01T09:00:00Z" }], 30, 30],
    ["the time is unknown", [node(0)], 30, 0],
  ];
  for (const [what, nodes, minReadySeconds, seconds] of table)
    it(`is ${seconds} s when ${what}`, () => {
      assert.equal(secondsUntilAvailable(["x://0", "x://1"], nodes, minReadySeconds, now), seconds);
    });
});
