import assert from "node:assert/strict";
import { judge, type Condition } from "../../../../sandbox/nodes/condition";

describe("evaluation of a node's observed state", () => {
  const cases: [state: string | undefined, alive: boolean, recorded: boolean, expected: Condition][] = [
    ["running", true, true, "running"],
    ["running", false, true, "gone"],
    ["stopping", false, true, "gone"],
    ["exited", false, true, "stopped"],
    ["stopped", false, true, "stopped"],
    // killed between create and start, or before sshd answered
    ["created", false, false, "leftover"],
    ["running", true, false, "leftover"],
    ["created", false, true, "leftover"],
    ["removing", false, true, "leftover"],
    ["dead", false, true, "leftover"],
    // a folder or volume without a container
    [undefined, false, true, "leftover"],
    [undefined, false, false, "leftover"],
  ];
  for (const [state, alive, recorded, expected] of cases) {
    it(`${state ?? "no container"}, process ${alive ? "alive" : "gone"}, ${recorded ? "" : "not "}recorded: ${expected}`, () => {
      assert.equal(judge({ state, alive, recorded }), expected);
    });
  }
});
