import assert from "node:assert/strict";
import { KUBERNETES_VERSION } from "../../sandbox/systems/ssh-configuration";
import { CONTROL_PLANE, PoolTestCluster } from "../cluster/pool-test-cluster";
import { leaveOut } from "../left-out";

const BY_NIGHT = process.env.FORESAIL_TEST_ALL === "1";

describe("a MachinePool whose machine is a container node that kubeadm joins", function () {
  this.timeout(300_000);
  let pool: PoolTestCluster;

  before(async function () {
    if (BY_NIGHT)
      leaveOut(this, "the nightly run does that and more in test/clouds/machine-pool-nodes.test.ts");
    pool = await PoolTestCluster.create("pool-node");
  });

  after(() => pool?.remove());

  it("has its node Ready when up ends, and deletes the machine when it is destroyed", async () => {
    pool.configure(1);
    await pool.up();
    assert.deepEqual(await pool.workers(), [
      {
        name: "pool-a-0",
        providerID: "sandbox://demo/pool-a-0",
        version: `v${KUBERNETES_VERSION}`,
        ready: true,
      },
    ]);
    await pool.stack.destroy();
    assert.deepEqual(await pool.workers(), []);
    assert.deepEqual(await pool.cluster.running(), [CONTROL_PLANE]);
  });
});
