import assert from "node:assert/strict";
import { driftDetails, driftEnd, driftWords, type StackDrift } from "../../../../cli/fleet/plan/drift";

const file = (path: string) => ({ path, difference: "changed" });
const CLEAN: StackDrift = { machines: [{ node: "w-1", files: [] }] };
const DRIFTED: StackDrift = {
  machines: [
    { node: "cp-1", files: [file("/etc/a"), file("/etc/b")] },
    { node: "w-1", files: [] },
  ],
};
const UNREAD: StackDrift = { machines: [{ node: "w-1", unknown: "no answer within 20 s" }] };
const BOTH: StackDrift = { machines: [{ node: "cp-1", files: [file("/etc/a")] }, ...UNREAD.machines] };
const FAILED: StackDrift = { failure: ["foresail: the passphrase is wrong"] };

describe("the drift of a fleet", () => {
  const cases: [what: string, stack: StackDrift, words: string, details: string[]][] = [
    ["nothing differs", CLEAN, "none on 1 machine", []],
    ["a stack without machines", { machines: [] }, "no machines of its own", []],
    ["files differ", DRIFTED, "2 files on 1 machine", ["cp-1: /etc/a (changed)", "cp-1: /etc/b (changed)"]],
    ["a machine is not read", UNREAD, "1 of 1 machine not read", ["w-1: not read: no answer within 20 s"]],
    [
      "both",
      BOTH,
      "1 file on 1 machine; 1 of 2 machines not read",
      ["cp-1: /etc/a (changed)", "w-1: not read: no answer within 20 s"],
    ],
    ["the command failed", FAILED, "failed", ["foresail: the passphrase is wrong"]],
  ];
  for (const [what, stack, words, details] of cases)
    it(`is described for each stack: ${what}`, () => {
      assert.equal(driftWords(stack), words);
      assert.deepEqual(driftDetails(stack), details);
    });

  it("ends as drifted when one stack has drifted, and never as done when one was not read", () => {
    for (const [stacks, end] of [
      [[], "done"],
      [[CLEAN], "done"],
      [[CLEAN, UNREAD], "unknown"],
      [[UNREAD, FAILED], "failed"],
      [[FAILED, DRIFTED, UNREAD], "drifted"],
      [[CLEAN, BOTH], "drifted"],
    ] as const)
      assert.equal(driftEnd(stacks), end);
  });
});
