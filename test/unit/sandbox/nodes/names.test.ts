import assert from "node:assert/strict";
import { containerName, fleetNames, projectHash, volumeName } from "../../../../sandbox/nodes/names";

describe("names of container nodes", () => {
  it("differ between two clones and two systems", () => {
    const [one, other] = ["/home/a/foresail", "/home/b/foresail"].map(projectHash);
    assert.notEqual(one, other);
    assert.notEqual(
      containerName(fleetNames(one!, "ssh"), "cp-1"),
      containerName(fleetNames(other!, "ssh"), "cp-1"),
    );
    assert.notEqual(fleetNames(one!, "ssh").network, fleetNames(one!, "e2e").network);
    assert.notEqual(fleetNames(one!, "ssh").seed, fleetNames(one!, "e2e").seed);
  });

  it("contain project, system and node", () => {
    const names = fleetNames("0a1b2c3d", "e2e-nodes");
    assert.equal(containerName(names, "w-1"), "foresail-0a1b2c3d-e2e-nodes-w-1");
    assert.equal(volumeName(names, "w-1", "etcd"), "foresail-0a1b2c3d-e2e-nodes-w-1-etcd");
  });

  for (const bad of ["", "A", "-a", "a_b", "a/../b", "x".repeat(41)]) {
    it(`refuse ${JSON.stringify(bad)}`, () => {
      assert.throws(() => fleetNames("0a1b2c3d", bad), /is not a valid name for a system/);
      assert.throws(
        () => containerName(fleetNames("0a1b2c3d", "ssh"), bad),
        /is not a valid name for a node/,
      );
    });
  }
});
