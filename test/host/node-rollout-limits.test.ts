import assert from "node:assert/strict";
import { NEW, OLD, openingsOf, RolloutFixture } from "./rollout-fixture";

const LEASE = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/foresail";
const CHANGES_ALLOWED = "alpha.node.caos.ch/changes-allowed";

describe("what a rollout waits for and stops at", function () {
  this.timeout(60_000);
  const fixture = new RolloutFixture();
  before(() => fixture.start());
  after(() => fixture.stop());

  it("begins no worker while another one of its pool is not Ready, and names it", async () => {
    fixture.reset(["cp-1", "w-1", "w-2"], NEW);
    fixture.putNode("w-1", OLD);
    fixture.putNode("w-2", NEW, { ready: false });
    await assert.rejects(fixture.update(fixture.desired(NEW)), /w-2 is not Ready: KubeletNotReady/);
    assert.deepEqual(fixture.seen(), []);
  });

  it("rolls the others when a worker's kubelet stopped reporting, and names that one at the end", async () => {
    fixture.reset(["cp-1", "w-1", "w-2", "w-3"], NEW);
    for (const name of ["w-1", "w-3"]) fixture.putNode(name, OLD);
    fixture.putNode("w-2", OLD, { ready: "Unknown" });
    const { inputs } = await fixture.check(fixture.desired(OLD), fixture.desired(NEW));
    const LEFT_OUT =
      "w-2: left out, its Node is not Ready (KubeletNotReady); the next `up` continues with it";
    assert.deepEqual(
      (inputs.steps as string[]).map((step) => step.replace(/ \(cordon.*/, "")),
      [`w-1 ${OLD} → ${NEW}`, `w-3 ${OLD} → ${NEW}`, LEFT_OUT],
    );
    await assert.rejects(
      fixture.update(inputs),
      /NodesLeftOut.*every other node is done; w-2 was left out.*next: start its machine/s,
    );
    assert.deepEqual(fixture.openings(), ["w-1 opened", "w-3 opened"]);
    await fixture.update(fixture.desired(NEW, { pausedNodes: ["w-2"] }));
    fixture.putNode("w-2", OLD);
    fixture.forget();
    assert.deepEqual(openingsOf(await fixture.stepsOf(fixture.desired(NEW))), ["w-2 opened"]);
    await fixture.update(fixture.desired(NEW));
    assert.deepEqual(fixture.openings(), ["w-2 opened"]);
  });

  it("stops at a worker that is down and has what the others are to get, at once and as the preview says", async () => {
    fixture.reset(["cp-1", "w-1", "w-2"], NEW);
    fixture.putNode("w-1", NEW, { ready: "Unknown" });
    fixture.putNode("w-2", OLD);
    const { inputs, refusals } = await fixture.check(fixture.desired(OLD), fixture.desired(NEW));
    assert.deepEqual(inputs.steps, ["w-2: stays as it is until these are Ready: w-1"]);
    assert.deepEqual(refusals, []);
    const began = Date.now();
    await assert.rejects(
      fixture.update({ ...inputs, timeouts: { ...(inputs.timeouts as object), ready: 30 } }),
      /w-1 is not Ready.*next: start these machines/s,
    );
    assert.ok(Date.now() - began < 10_000);
    assert.deepEqual(fixture.seen(), []);
    fixture.putNode("w-1", NEW);
    await fixture.update(fixture.desired(NEW));
    assert.deepEqual(fixture.openings(), ["w-2 opened"]);
  });

  it("leaves a worker to the run that replaces it, as the preview lists it, and ends without it", async () => {
    fixture.reset(["cp-1", "w-1", "w-2"], NEW);
    for (const name of ["w-1", "w-2"]) fixture.putNode(name, OLD);
    const news = { ...fixture.desired(NEW), leavingLater: ["w-2"] };
    const { inputs } = await fixture.check(fixture.desired(OLD), news);
    const [first, ...others] = inputs.steps as string[];
    assert.match(first ?? "", /^w-1 /);
    assert.deepEqual(others, [`w-2: stays at ${OLD}, since a later run replaces or removes it`]);
    await fixture.update(inputs);
    assert.deepEqual(fixture.openings(), ["w-1 opened"]);
    assert.equal(fixture.node("w-2").status.nodeInfo.kubeletVersion, `v${OLD}`);
    fixture.forget();
    await fixture.update(fixture.desired(NEW));
    assert.deepEqual(fixture.openings(), ["w-2 opened"]);
  });

  it("is refused with the name of the run that is changing the cluster", async () => {
    fixture.reset(["cp-1", "w-1"], NEW);
    fixture.putNode("w-1", OLD);
    fixture.server.store.put(LEASE, {
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: { name: "foresail", namespace: "kube-system" },
      spec: { holderIdentity: "ann@laptop", leaseDurationSeconds: 30, renewTime: new Date().toISOString() },
    });
    await assert.rejects(fixture.update(fixture.desired(NEW)), /LeaseHeld.*ann@laptop/s);
    assert.deepEqual(fixture.seen(), []);
  });

  it("leaves a node cordoned that was cordoned before", async () => {
    fixture.reset(["cp-1", "w-1"], NEW);
    fixture.putNode("w-1", OLD, { unschedulable: true });
    await fixture.update(fixture.desired(NEW));
    assert.equal(fixture.node("w-1").spec.unschedulable, true);
    assert.equal(fixture.node("w-1").status.nodeInfo.kubeletVersion, `v${NEW}`);
    assert.equal(fixture.node("w-1").metadata.annotations["foresail/was-cordoned"], undefined);
  });

  it("upgrades as many workers at once as the pool allows, in the order of the configuration", async () => {
    const workers = ["w-1", "w-2", "w-3", "w-4"];
    fixture.reset(["cp-1", ...workers], NEW);
    for (const name of workers) fixture.putNode(name, OLD);
    await fixture.update(fixture.desired(NEW, { maxUnavailable: "50%" }));
    assert.deepEqual(
      fixture.openings(),
      workers.map((name) => `${name} opened`),
    );
    const [first, second] = fixture.seen();
    assert.deepEqual([first, second?.startsWith("w-1") || second === "w-2 opened"], ["w-1 opened", true]);
    assert.ok(fixture.seen().indexOf("w-2 opened") < fixture.seen().indexOf("w-1 closed"));
  });

  for (const [what, over, words] of [
    ["the hour of stopAfter has come", { stopAfter: "1s", soakSeconds: 2 }, /RolloutPaused.*stopAfter 1s/s],
    [
      "the gate stays shut",
      { gate: { command: "echo red; false" }, nodeTimeoutSeconds: 1 },
      /echo red.*red/s,
    ],
  ] as const)
    it(`stops before its next node when ${what}, and leaves no window open`, async () => {
      fixture.reset(["cp-1", "w-1", "w-2"], NEW);
      for (const name of ["w-1", "w-2"]) fixture.putNode(name, OLD);
      await assert.rejects(fixture.update(fixture.desired(NEW, over)), words);
      assert.ok(!fixture.openings().includes("w-2 opened"));
      for (const name of ["w-1", "w-2"])
        assert.notEqual(fixture.node(name).metadata.annotations[CHANGES_ALLOWED], "true");
    });

  it("stops before its next node when a pause is requested, and the next run continues", async () => {
    fixture.reset(["cp-1", "w-1", "w-2"], NEW);
    for (const name of ["w-1", "w-2"]) fixture.putNode(name, OLD);
    const ask = () => {
      const lease = fixture.server.store.objects.get(LEASE);
      if (!lease || fixture.openings().length === 0) return;
      fixture.server.store.listeners.delete(ask);
      const annotations = {
        ...lease.metadata?.annotations,
        "foresail/pause-requested": `${new Date().toISOString()} ann@laptop`,
      };
      fixture.server.store.put(LEASE, { ...lease, metadata: { ...lease.metadata, annotations } });
    };
    fixture.server.store.listeners.add(ask);
    await assert.rejects(
      fixture.update(fixture.desired(NEW)),
      /RolloutPaused.*before w-2: a pause was asked for.*ann@laptop/s,
    );
    assert.deepEqual(fixture.openings(), ["w-1 opened"]);
    assert.deepEqual(openingsOf(await fixture.stepsOf(fixture.desired(NEW))), ["w-2 opened"]);
  });
});
