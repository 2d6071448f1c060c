import assert from "node:assert/strict";
import { desiredCluster } from "./desired-cluster";
import { killedDuring } from "./killed-up";
import { writesOf } from "../simulation/journal";
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

describe("a reservation of the kubelet that a machine does not have", function () {
  this.timeout(300_000);
  const fixture = simulatedFixture({ machines: ["cp-1", "w-1"] });
  const want = (others: Record<string, unknown> = {}) =>
    fixture.stack.configure({ cluster: desiredCluster(fixture.fleet, ["cp-1", "w-1"], others) });

  before(async () => {
    want();
    await fixture.stack.up();
  });

  /** Asserts that preview and up refuse what is configured in these words, and write nothing. */
  async function expectRefusal(words: RegExp): Promise<void> {
    const written = writesOf(fixture.fleet.journal);
    for (const command of [["preview"], ["up", "--yes"]]) {
      const { exitCode, stdout, stderr } = await fixture.stack.call(command);
      assert.notEqual(exitCode, 0, stdout);
      assert.match((stdout + stderr).replaceAll(/\s+/g, " "), words);
    }
    assert.deepEqual(writesOf(fixture.fleet.journal), written);
  }

  it("is refused by the preview, and nothing is written", async () => {
    want({ kubelet: { systemReserved: { memory: "900Gi" } } });
    await expectRefusal(
      /cluster\.kubelet.* the kubelet would reserve 900Gi \+ 100Mi of memory, and cp-1 has 4Gi, w-1 has 4Gi: it would end at its start/,
    );
    want();
    assert.deepEqual(await fixture.stack.preview(), []);
  });

  it("is refused in the same way when kube-proxy ends with its new settings on a control plane", async () => {
    const { files } = fixture.fleet;
    const words = "failed validate: what no table knows";
    files.saveState("cp-1", { ...files.state("cp-1"), proxyRefusal: words });
    want({ kubeProxy: { metricsBindAddress: "127.0.0.1:10249" } });
    await expectRefusal(
      /cluster\.kubeProxy.* on cp-1, kube-proxy does not start with the changed settings \(failed validate: what no table knows\)/,
    );
    want();
    // nothing is asked when its settings stay
    assert.deepEqual(await fixture.stack.preview(), []);
    const { proxyRefusal: _, ...state } = files.state("cp-1");
    files.saveState("cp-1", state);
  });

  it("is rolled out when the machines have it", async () => {
    want({ kubelet: { systemReserved: { memory: "1Gi" } } });
    const steps = (await fixture.stack.preview()).flatMap(({ inputs }) => (inputs.steps ?? []) as string[]);
    assert.ok(
      steps.some((step) => /^w-1: configuration /.test(step)),
      steps.join("\n"),
    );
  });
});
