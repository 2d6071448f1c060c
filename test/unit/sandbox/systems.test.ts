import assert from "node:assert/strict";
import { findSystem, DEFAULT_SYSTEM, SYSTEMS, UnknownSystemError } from "../../../sandbox/systems";
import { stackOf } from "../../../sandbox/systems/system";

describe("the systems of the sandbox", () => {
  it("are found by name, the default one among them", () => {
    for (const system of SYSTEMS) assert.equal(findSystem(system.name), system);
    assert.equal(findSystem(DEFAULT_SYSTEM).name, "ssh");
  });

  it("that are unknown are refused with the names of the known ones", () => {
    assert.throws(
      () => findSystem("shh"),
      (error: unknown) => {
        assert.ok(error instanceof UnknownSystemError);
        for (const { name } of SYSTEMS) assert.ok(error.message.includes(name));
        return true;
      },
    );
  });

  it("have one stack each", () => {
    assert.equal(stackOf(findSystem("ssh")), "sandbox-ssh");
    assert.equal(new Set(SYSTEMS.map(stackOf)).size, SYSTEMS.length);
  });
});
