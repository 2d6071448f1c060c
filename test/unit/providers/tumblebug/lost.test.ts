import assert from "node:assert/strict";
import { desiredLostRefusals } from "../../../../providers/tumblebug/plan/validation";

describe("machines of CB-Tumblebug that are listed as lost", () => {
  const desired = ["cp-1", "w-3", "w-2-r1"].map((machine) => ({ machine }));

  it("are refused while the run keeps them, whatever their index in the group", () => {
    assert.deepEqual(desiredLostRefusals(["w-1", "w-3", "w-2"], desired), [
      {
        property: "tumblebug.lost[1]",
        reason:
          '"w-3" is still in its group; raise its number in `replace`, or lower the replicas of the group',
      },
    ]);
  });
});
