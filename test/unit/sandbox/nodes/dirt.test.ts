import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { DIRT, listDirt, parseDirt } from "../../../../sandbox/nodes/dirt";

describe("the dirt of the sandbox's machines", () => {
  it("is chosen by names, and an unknown one is refused with the list", () => {
    assert.deepEqual(parseDirt("docker, proxy"), ["docker", "proxy"]);
    for (const text of ["dust", "docker,dust", "", "toString"])
      assert.throws(() => parseDirt(text), /There is no dirt .*There is: greeting, proxy, docker/);
  });

  it("is described by one line, and made by a valid script, for each kind", () => {
    for (const [name, { script }] of Object.entries(DIRT)) {
      assert.ok(listDirt().includes(`${name}: `));
      assert.equal(spawnSync("sh", ["-n", "-c", script]).status, 0, name);
    }
  });
});
