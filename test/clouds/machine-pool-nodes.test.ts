import assert from "node:assert/strict";
import { CLUSTER_API } from "../../sandbox/capi/kinds";
import { KUBERNETES_VERSION } from "../../sandbox/systems/ssh-configuration";
import { CONTROL_PLANE, PoolTestCluster } from "../cluster/pool-test-cluster";
import { awaitNotReady } from "../cluster/reachability";
import { leaveOut } from "../left-out";
import { oneAfterTheOther } from "../one-after-the-other";

const ALL_TESTS = process.env.FORESAIL_TEST_ALL === "1";
const VERSION = `v${KUBERNETES_VERSION}`;

interface CountedPool {
  status?: { phase?: string; availableReplicas?: number; nodeRefs?: { name: string }[] };
}

describe("a MachinePool of container nodes that kubeadm joins", function () {
  this.timeout(600_000);
  let pool: PoolTestCluster;

  const worker = (name: string) => ({
    name,
    providerID: `sandbox://demo/${name}`,
    version: VERSION,
    ready: true,
  });
  /** What Cluster API's own manager reports about the pool. */
  const counted = async () => {
    const { status } = (await pool.capi.get<CountedPool>(CLUSTER_API, "MachinePool", "pool-a")) ?? {};
    return [status?.phase, status?.availableReplicas ?? 0, (status?.nodeRefs ?? []).map(({ name }) => name)];
  };
  const steps = async () =>
    (await pool.stack.preview()).find(({ name }) => name === "pool-a-ready")?.inputs["steps"];

  before(async function () {
    if (!ALL_TESTS) leaveOut(this, "only FORESAIL_TEST_ALL=1 joins the nodes of a machine pool with kubeadm");
    pool = await PoolTestCluster.create("pool-nodes");
  });

  oneAfterTheOther();

  after(() => pool?.remove());

  it("grows from 0 to 2, and up ends when both nodes are Ready in the workload cluster", async () => {
    pool.configure(0);
    await pool.up();
    assert.deepEqual(await pool.workers(), []);
    pool.configure(2);
    assert.deepEqual(await steps(), [
      "pool-a: scale 0 → 2, 2 nodes more",
      "pool-a: wait until every node is Ready",
    ]);
    await pool.up();
    assert.deepEqual(await pool.workers(), [worker("pool-a-0"), worker("pool-a-1")]);
    assert.deepEqual(await counted(), ["Running", 2, ["pool-a-0", "pool-a-1"]]);
    assert.deepEqual(await pool.cluster.running(), [CONTROL_PLANE, "pool-a-0", "pool-a-1"]);
    assert.deepEqual(await pool.stack.preview(), []);
  });

  it("shows in preview and refresh that a kubelet has stopped, which Cluster API does not notice", async () => {
    await pool.cluster.onMachine("pool-a-0", "systemctl stop kubelet");
    await awaitNotReady(pool.cluster, "pool-a-0");
    assert.deepEqual(await counted(), ["Running", 2, ["pool-a-0", "pool-a-1"]]);
    assert.match(
      String(await steps()),
      /^pool-a: phase Running, waits for node pool-a-0 is not Ready \(Ready is Unknown, NodeStatusUnknown/,
    );
    assert.equal((await pool.stack.refresh())["updated"], 1);
    await pool.cluster.onMachine("pool-a-0", "systemctl start kubelet");
    await pool.up();
    assert.deepEqual(await pool.workers(), [worker("pool-a-0"), worker("pool-a-1")]);
    assert.deepEqual(await pool.stack.preview(), []);
  });

  it("shrinks to 1 and removes the machine and its Node", async () => {
    pool.configure(1);
    assert.deepEqual(await steps(), [
      "pool-a: scale 2 → 1, 1 node less",
      "pool-a: wait until every node is Ready",
    ]);
    await pool.up();
    assert.deepEqual(await pool.workers(), [worker("pool-a-0")]);
    assert.deepEqual(await pool.cluster.running(), [CONTROL_PLANE, "pool-a-0"]);
  });

  it("rolls to another template, adding a new node before it removes the old one", async () => {
    pool.configure(1, "large");
    assert.deepEqual(await steps(), [
      "pool-a: roll all 1 node, made from another template",
      "pool-a: wait until every node is Ready",
    ]);
    await pool.up();
    assert.deepEqual(await pool.workers(), [worker("pool-a-2")]);
    assert.deepEqual(await pool.cluster.running(), [CONTROL_PLANE, "pool-a-2"]);
  });

  it("is destroyed with all its machines", async () => {
    await pool.stack.destroy();
    assert.deepEqual(await pool.cluster.running(), [CONTROL_PLANE]);
    assert.deepEqual(await pool.workers(), []);
  });
});
