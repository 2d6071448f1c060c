import assert from "node:assert/strict";
import { machineKey, withKeysOfLeaving } from "../../../../../providers/kubeadm/plan/cluster/machine";

describe("the SSH key for a machine that leaves", () => {
  const recorded = { privateKey: "old", privateKeys: { "w-1": "own of w-1", "w-2": "own of w-2" } };

  it("is the recorded one, since the configuration no longer has it", () => {
    const desired = { privateKeys: { "w-2": "new of w-2", "w-1-r1": "own of w-1-r1" } };
    const credentials = withKeysOfLeaving(desired, recorded, ["w-1"]);
    assert.equal(machineKey(credentials, "w-1"), "own of w-1");
    assert.equal(machineKey(credentials, "w-2"), "new of w-2");
    assert.equal(machineKey(credentials, "w-1-r1"), "own of w-1-r1");
  });

  it("is the shared one when the machine had none of its own", () => {
    const desired = { privateKey: "new" };
    assert.equal(machineKey(withKeysOfLeaving(desired, recorded, ["w-3"]), "w-3"), "new");
  });

  it("is not used for a machine that stays and has lost its own", () => {
    assert.deepEqual(withKeysOfLeaving({ privateKey: "new" }, recorded, []), { privateKey: "new" });
    assert.deepEqual(withKeysOfLeaving({ privateKey: "new" }, undefined, ["w-1"]), { privateKey: "new" });
  });
});
