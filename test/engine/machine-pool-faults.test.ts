import assert from "node:assert/strict";
import { CLUSTER_API, FAULT } from "../../sandbox/capi/kinds";
import { machinePoolFixture, poolConfiguration, type PoolObject, timeoutsOf } from "./machine-pool-fixture";
import { untilOrphansEnd, upKilledWhen } from "./killed-up";

/** What up prints at each transition of the figure; it is killed there, by default at one of them. */
const KILLS =
  process.env.FORESAIL_TEST_ALL === "1"
    ? [
        "made by this stack",
        "become its owner",
        "bootstrap is ready",
        "phase Provisioning",
        "infrastructure is ready",
        "phase ScalingUp",
      ]
    : ["bootstrap is ready"];

describe("a MachinePool that does not come up, through the engine", function () {
  this.timeout(120_000);
  const fixture = machinePoolFixture({ milliseconds: 700 });
  const pool = (name: string) => fixture.capi.get<PoolObject>(CLUSTER_API, "MachinePool", name);
  const up = () => fixture.stack.call(["up", "--yes", "--skip-preview"]);
  const wordsOf = async () => {
    const { exitCode, stdout, stderr } = await up();
    assert.notEqual(exitCode, 0, "it should have failed");
    return stdout + stderr;
  };
  const asked = (fault: string) => ({ annotations: { [FAULT]: fault } });

  it("names the API version that the server has, when the desired one is missing", async () => {
    fixture.stack.configure(poolConfiguration({ api: "v1beta2" }));
    const { exitCode, stdout, stderr } = await fixture.stack.call(["preview"]);
    assert.notEqual(exitCode, 0, "it should have failed");
    assert.match(
      stdout + stderr,
      /no kind MachinePool in cluster\.x-k8s\.io\/v1beta2, only in cluster\.x-k8s\.io\/v1beta1; install Cluster API 1\.11 or newer \(or write api: v1beta1\) first/,
    );
  });

  it("names phase and condition while the join data is missing, and continues when it arrives", async () => {
    const timeouts = timeoutsOf(20, { bootstrapSeconds: 2 });
    fixture.stack.configure(poolConfiguration({ replicas: 1, timeouts }, {}, asked("never-ready")));
    assert.match(
      await wordsOf(),
      /waited 2 s for MachinePool demo\/pool-a \(bootstrap\); last seen: phase Pending, waits for bootstrap data, BootstrapReady is False \(DataNotMade: asked to make no data\)/,
    );
    fixture.stack.configure(poolConfiguration({ replicas: 1, timeouts }));
    const { exitCode, stdout } = await up();
    assert.equal(exitCode, 0, stdout);
    await fixture.stack.destroy();
  });

  it("fails at once when the infrastructure has failed, with its reason and message", async () => {
    fixture.stack.configure(poolConfiguration({ replicas: 1 }, asked("failed")));
    const began = Date.now();
    assert.match(await wordsOf(), /CreateError: .*the cloud has no such flavor/);
    assert.ok(Date.now() - began < 20_000, "it should not have waited for a deadline");
    await fixture.stack.destroy();
  });

  for (const line of KILLS)
    it(`continues after a SIGKILL at "${line}", with one pool and one set of nodes`, async () => {
      fixture.stack.configure(poolConfiguration({ replicas: 2 }));
      const { killed, orphans, output } = await upKilledWhen(fixture.stack, "pulumi alone", (said) =>
        said().includes(line) ? { line } : undefined,
      );
      assert.ok(killed, `it should have been killed:\n${output}`);
      await untilOrphansEnd(orphans);
      const uid = (await pool("pool-a"))?.metadata.uid;
      await fixture.stack.clearDeadLocks();
      const { exitCode, stdout, stderr } = await up();
      assert.equal(exitCode, 0, stdout + stderr);
      if (uid !== undefined) assert.equal((await pool("pool-a"))?.metadata.uid, uid);
      assert.equal((await fixture.capi.kubernetes.listNodes()).length, 2);
      await fixture.stack.destroy();
      assert.equal(await pool("pool-a"), undefined);
    });
});
