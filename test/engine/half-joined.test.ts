import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { desiredCluster, type DesiredMachine } from "./desired-cluster";
import { killedDuring } from "./killed-up";
import { observedCluster } from "./observed-cluster";
import { simulatedFixture } from "./simulated-fixture";

describe("a machine that lost its power in the middle of its join as a control plane, and is configured as a worker", function () {
  this.timeout(300_000);
  const fixture = simulatedFixture({ machines: ["cp-1", "cp-2", "w-1"] });
  const want = (...machines: (string | DesiredMachine)[]) =>
    fixture.stack.configure({
      cluster: desiredCluster(fixture.fleet, machines, { allowEvenControlPlanes: true }),
    });
  const asWorker: DesiredMachine = { name: "cp-2", role: "worker", apiServer: undefined };
  const inEtcd = () => ["cp-1", "cp-2"].filter((name) => fixture.fleet.state(name).etcdId !== undefined);

  before(async () => {
    want("cp-1", "w-1");
    await fixture.stack.up();
    want("cp-1", "cp-2", "w-1");
    await killedDuring(fixture, { operation: "prepare", machine: "cp-2" });
    const { fleet } = fixture;
    // what has begun on a machine ends there
    for (const deadline = Date.now() + 10_000; !fleet.state("cp-2").prepared; await pause(50))
      assert.ok(Date.now() < deadline, "cp-2 was not prepared");
    fleet.files.saveState("cp-2", { ...fleet.state("cp-2"), etcdId: "8000000001" });
    fleet.powerOff("cp-2");
    fleet.powerOn("cp-2");
    assert.deepEqual(inEtcd(), ["cp-1", "cp-2"]);
  });

  it("is refused with the way on, by the preview and by an up without one", async () => {
    want("cp-1", "w-1", asWorker);
    for (const command of [["preview"], ["up", "--yes", "--skip-preview"]]) {
      const { exitCode, stdout, stderr } = await fixture.stack.call(command);
      assert.notEqual(exitCode, 0, stdout);
      assert.match(
        (stdout + stderr).replaceAll(/\s+/g, " "),
        /began to join cp-2 as a control plane, and it can't become a worker in one run: take it out/,
      );
    }
  });

  it("leaves etcd when it is taken out, and joins as a worker when it is added again", async () => {
    want("cp-1", "w-1");
    const steps = (await fixture.stack.preview()).flatMap(({ inputs }) => (inputs.steps ?? []) as string[]);
    assert.ok(
      steps.some((step) => /^cp-2: prepared by a run .*remove its etcd member/.test(step)),
      steps.join("\n"),
    );
    await fixture.stack.up();
    assert.deepEqual(inEtcd(), ["cp-1"]);
    want("cp-1", "w-1", asWorker);
    await fixture.stack.up();
    assert.deepEqual(Object.keys(await observedCluster(fixture.kubernetes)), ["cp-1", "cp-2", "w-1"]);
    assert.deepEqual(inEtcd(), ["cp-1"]);
    assert.deepEqual(await fixture.stack.preview(), []);
  });
});
