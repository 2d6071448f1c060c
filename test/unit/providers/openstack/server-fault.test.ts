import assert from "node:assert/strict";
import { serverFaultAdvice } from "../../../../providers/openstack/plan/requirements";

describe("the message for a server that a cloud could not create", () => {
  it("is the cloud's reason and what to do, when no host has room", () => {
    assert.equal(
      serverFaultAdvice("w-1-aaaaa", "No valid host was found. There are not enough hosts available"),
      "w-1-aaaaa could not be made: No valid host was found. There are not enough hosts available. " +
        "What to do: no host of the cloud has room for such a server: choose another flavor, image or zone, or ask the cloud's " +
        "operator for room; then run the same again, what was made is kept",
    );
  });

  for (const [fault, todo] of [
    ["Quota exceeded for cores: Requested 4, but already used 10 of 10 cores", "raise the quota"],
    [
      "VolumeSizeExceedsAvailableQuota: Requested volume or snapshot exceeds allowed gigabytes quota.",
      "raise the quota",
    ],
    ["Build of instance 7 aborted: Volume 9 did not finish being created", "take another `rootVolume`, or"],
    ["Connection to cinder host failed", "take another `rootVolume`, or"],
    ["Build of instance aborted: image is corrupt.", "choose another flavor, image or zone;"],
  ] as const)
    it(`says what to do about "${fault.slice(0, 20)}…"`, () => {
      const said = serverFaultAdvice("w-1-aaaaa", fault);
      assert.ok(said.includes(`made: ${fault.replace(/\.$/, "")}. What to do: ${todo}`), said);
    });
});
