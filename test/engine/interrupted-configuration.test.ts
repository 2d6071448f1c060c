import assert from "node:assert/strict";
import { desiredCluster } from "./desired-cluster";
import { killedDuring } from "./killed-up";
import { simulatedFixture } from "./simulated-fixture";

describe("a change of configuration that is killed, and then taken out of the stack file", function () {
  this.timeout(300_000);
  const fixture = simulatedFixture({ machines: ["cp-1", "w-1"] });
  const want = (others: Record<string, unknown> = {}) =>
    fixture.stack.configure({ cluster: desiredCluster(fixture.fleet, ["cp-1", "w-1"], others) });
  const writes = () =>
    fixture.fleet.journal.filter(({ operation }) => operation === "configure-cluster").length;
  const TAKE_BACK =
    "cluster: write kubeadm-config and kubelet-config again, since an interrupted run left other settings there";

  before(async () => {
    want();
    await fixture.stack.up();
  });

  it("is listed and taken back, and then nothing is left to do", async () => {
    want({ kubelet: { maxPods: 90 } });
    await killedDuring(fixture, { operation: "configure-cluster", machine: "cp-1" });

    want();
    assert.deepEqual(
      (await fixture.stack.preview()).map(({ op, name, inputs }) => [op, name, inputs.steps]),
      [["update", "test-reader", [TAKE_BACK]]],
    );
    const before = writes();
    await fixture.stack.up();
    assert.equal(writes(), before + 1);
    assert.deepEqual(await fixture.stack.preview(), []);
  });

  it("is not looked for while the stack still wants the change", async () => {
    want({ kubelet: { maxPods: 80 } });
    const preview = await fixture.stack.preview();
    const steps = preview.flatMap(({ inputs }) => (inputs.steps ?? []) as string[]);
    assert.ok(steps.includes("cluster: write kubeadm-config and kubelet-config"));
    assert.ok(!steps.includes(TAKE_BACK));
  });
});
