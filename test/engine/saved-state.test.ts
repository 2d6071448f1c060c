import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import path from "node:path";
import { memberState } from "../simulation/fleet-files";
import { SimulatedFleet } from "../simulation/simulated-fleet";
import { desiredCluster } from "./desired-cluster";
import { makeCompiledClone, removeFolder } from "./compiled-clone";
import { readSavedState, savedStateFile, withAddresses } from "./saved-state";
import { engineToolchain, SET_UP_MILLISECONDS } from "./simulated-fixture";
import { TestStack } from "./test-stack";

const RELEASES = readdirSync(path.dirname(savedStateFile("")))
  .flatMap((name) => /^state-(.+)\.json$/.exec(name)?.[1] ?? [])
  .sort();

describe("state that an earlier release saved", function () {
  this.timeout(SET_UP_MILLISECONDS);

  it("is on record for this test", () => assert.ok(RELEASES.length > 0));

  for (const release of RELEASES)
    it(`is read and destroyed by today's code: ${release}`, async () => {
      const { userKey, stack: saved } = readSavedState(release);
      const toolchain = await engineToolchain();
      const folder = makeCompiledClone();
      // the API server of that time is gone, as after the loss of a whole site; the machines answer
      const fleet = await SimulatedFleet.start({
        api: { kubeconfigFile: path.join(folder, "none"), port: 1 },
        machines: ["cp-1", "w-1"],
        userKey: { private: "", public: userKey },
      });
      try {
        for (const name of ["cp-1", "w-1"])
          fleet.files.saveState(name, memberState("test", name, name === "cp-1"));
        const places = ["cp-1", "w-1"].map((name) => fleet.machine(name));
        const stack = await new TestStack({ folder, project: "foresail", stack: "test" }, toolchain).create();
        stack.configure({ cluster: desiredCluster(fleet, ["cp-1", "w-1"]) });
        const imported = JSON.stringify(withAddresses(saved, places));
        await stack.call(["stack", "import"], { input: imported });
        assert.equal((await stack.export()).deployment.resources?.length, saved.deployment.resources?.length);
        // the members are read again, and what can't be read stays as it is
        assert.equal("deleted" in (await stack.refresh()), false);
        await stack.destroy();
        assert.deepEqual((await stack.export()).deployment.resources ?? [], []);
        assert.deepEqual([fleet.state("cp-1").marker, fleet.state("w-1").marker], [undefined, undefined]);
      } finally {
        await fleet.stop();
        removeFolder(folder);
      }
    });
});
