/** A run of a MachinePool is killed, and people go on in another way than with the same run (machine-pool-faults). */
import assert from "node:assert/strict";
import { CLUSTER_API } from "../../sandbox/capi/kinds";
import { untilOrphansEnd, upKilledWhen } from "./killed-up";
import { machinePoolFixture, poolConfiguration, type PoolObject } from "./machine-pool-fixture";

const BY_NIGHT = process.env.FORESAIL_TEST_ALL === "1";
/** What a first `up` prints when it is killed. */
const KILLS = [
  ...["made by this stack", "become its owner", "bootstrap is ready"],
  ...["phase Provisioning", "infrastructure is ready", "phase ScalingUp"],
].filter((_line, index) => BY_NIGHT || index === 3);

describe("a MachinePool whose run is killed, and then", function () {
  this.timeout(300_000);
  const fixture = machinePoolFixture({ milliseconds: 700 });
  const nodes = async () =>
    (await fixture.capi.kubernetes.listNodes()).map(({ metadata }) => metadata?.name ?? "").sort();
  const want = (replicas: number, flavor: string) =>
    fixture.stack.configure(poolConfiguration({ replicas }, { spec: { template: { flavor } } }));

  async function killAt(line: string | RegExp): Promise<void> {
    const { killed, orphans, output } = await upKilledWhen(fixture.stack, "the whole tree", (said) =>
      new RegExp(line).test(said()) ? { line } : undefined,
    );
    assert.ok(killed, `it should have been killed:\n${output}`);
    await untilOrphansEnd(orphans);
    await fixture.stack.clearDeadLocks();
  }

  async function expectNothing(): Promise<void> {
    const left = await Promise.all([
      fixture.capi.get<PoolObject>(CLUSTER_API, "MachinePool", "pool-a"),
      fixture.capi.get("bootstrap.cluster.x-k8s.io/v1beta1", "SandboxConfig", "pool-a"),
      fixture.capi.get("infrastructure.cluster.x-k8s.io/v1beta1", "SandboxMachinePool", "pool-a"),
    ]);
    assert.deepEqual([...left, await nodes()], [undefined, undefined, undefined, []]);
  }

  for (const line of KILLS) {
    it(`destroyed, leaves nothing, killed at "${line}"`, async () => {
      want(2, "small");
      await killAt(line);
      await fixture.stack.destroy();
      await expectNothing();
    });

    it(`edited, ends as it is configured then, killed at "${line}"`, async () => {
      want(2, "small");
      await killAt(line);
      want(1, "large");
      await fixture.stack.up();
      assert.equal((await nodes()).length, 1);
      assert.deepEqual(await fixture.stack.preview(), []);
      await fixture.stack.destroy();
      await expectNothing();
    });
  }

  for (const left of [2, 1])
    it(`with the template of before, ends with it, killed when ${left} of its machines are to be replaced`, async () => {
      want(2, "small");
      await fixture.stack.up();
      want(2, "large");
      if (left === 2) fixture.capi.stopProviders();
      // a pool that scales has one more for a moment
      await killAt(new RegExp(`waits for ${left} of \\d machines to be replaced`));
      if (left === 2) await fixture.capi.startProviders();
      want(2, "small");
      await fixture.stack.up();
      assert.equal((await nodes()).length, 2);
      assert.deepEqual(await fixture.stack.preview(), []);
      await fixture.stack.destroy();
      await expectNothing();
    });
});
