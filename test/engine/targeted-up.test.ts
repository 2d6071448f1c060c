import assert from "node:assert/strict";
import { desiredCluster } from "./desired-cluster";
import { observedCluster } from "./observed-cluster";
import { simulatedFixture } from "./simulated-fixture";

const MACHINES = ["cp-1", "w-1"];

describe("a first `up` with `--target`", function () {
  this.timeout(300_000);
  const fixture = simulatedFixture({ machines: MACHINES });

  it("makes a part of the cluster, and the next `up` the rest", async () => {
    const { fleet, stack, kubernetes } = fixture;
    stack.configure({ cluster: desiredCluster(fleet, MACHINES) });
    const types = ["KubeadmCluster", "StackIdentity", "Command", "HostKey", "ClusterOwner", "ClusterInit"];
    const targets = types.flatMap((type) => ["--target", `**${type}::*`]);
    const part = await stack.call(["up", "--yes", "--skip-preview", ...targets]);
    assert.equal(part.exitCode, 0, part.stdout + part.stderr);
    assert.deepEqual((await stack.outputs())["certificatesExpire"], {});
    await stack.up();
    assert.deepEqual(Object.keys(await observedCluster(kubernetes)), MACHINES);
    assert.deepEqual(await stack.preview(), []);
  });
});
