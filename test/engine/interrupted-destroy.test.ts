import assert from "node:assert/strict";
import { desiredCluster } from "./desired-cluster";
import { observedCluster } from "./observed-cluster";
import { simulatedFixture } from "./simulated-fixture";

const MACHINES = ["cp-1", "w-1"];

describe("a destroy that ended after it had reset the machines, before it forgot that they are prepared", function () {
  this.timeout(300_000);
  const fixture = simulatedFixture({ machines: MACHINES });

  it("is completed by another one, which the next `up` names", async () => {
    const { fleet, stack, kubernetes } = fixture;
    stack.configure({ cluster: desiredCluster(fleet, MACHINES) });
    await stack.up();
    const target = ["--target", "**ClusterInit::*", "--target-dependents"];
    const half = await stack.call(["destroy", "--yes", "--skip-preview", ...target]);
    assert.equal(half.exitCode, 0, half.stdout + half.stderr);
    // the API server of the tests outlives the cluster
    for (const name of MACHINES) await kubernetes.delete({ apiVersion: "v1", kind: "Node", name });
    const { exitCode, stdout, stderr } = await stack.call(["up", "--yes", "--skip-preview"]);
    assert.notEqual(exitCode, 0);
    assert.match(stdout + stderr, /cp-1: nothing is prepared on this machine[^\n]*run `destroy`/);
    await stack.destroy();
    await stack.up();
    assert.deepEqual(Object.keys(await observedCluster(kubernetes)), MACHINES);
    assert.deepEqual(await stack.preview(), []);
  });
});
