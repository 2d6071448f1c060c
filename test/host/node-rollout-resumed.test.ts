import assert from "node:assert/strict";
import { NEW, OLD, RolloutFixture } from "./rollout-fixture";
import { nodeRolloutSteps } from "../../providers/kubeadm/plan/steps";

const ANNOTATION = {
  changesAllowed: "alpha.node.caos.ch/changes-allowed",
  ready: "alpha.node.caos.ch/ready",
  desired: (software: string) => `alpha.${software}.caos.ch/desired-version`,
  current: (software: string) => `alpha.${software}.caos.ch/current-version`,
};
const SOFTWARE = ["kubelet", "kubeadm", "kubectl"];

describe("a rollout whose run was killed", function () {
  this.timeout(60_000);
  const fixture = new RolloutFixture();
  before(() => fixture.start());
  after(() => fixture.stop());

  const told = Object.fromEntries(SOFTWARE.map((name) => [ANNOTATION.desired(name), `v${NEW}`]));
  const done = Object.fromEntries(SOFTWARE.map((name) => [ANNOTATION.current(name), `v${NEW}`]));
  const open = { [ANNOTATION.changesAllowed]: "true" };
  for (const [where, version, over] of [
    ["the window was open", OLD, { annotations: open }],
    ["the node was cordoned", OLD, { annotations: open, unschedulable: true }],
    ["the node was told", OLD, { annotations: { ...open, ...told }, unschedulable: true }],
    [
      "the agent was running",
      OLD,
      { annotations: { ...open, ...told, [ANNOTATION.ready]: "false" }, unschedulable: true },
    ],
    ["the node was done", NEW, { annotations: { ...open, ...told, ...done }, unschedulable: true }],
  ] as const)
    it(`is resumed when ${where}`, async () => {
      fixture.reset(["cp-1", "w-1", "w-2"], NEW);
      fixture.putNode("w-1", OLD);
      fixture.putNode("w-2", version, over);
      fixture.agents.look();
      const steps = await fixture.stepsOf(fixture.desired(NEW));
      const step = nodeRolloutSteps.parse(steps[0]!);
      assert.ok(step?.kind === "finish" || (step?.kind === "upgrade" && step.resumed), steps[0]);
      assert.equal(step.machine, "w-2");
      await fixture.update(fixture.desired(NEW));
      for (const name of ["w-1", "w-2"]) {
        assert.equal(fixture.node(name).status.nodeInfo.kubeletVersion, `v${NEW}`);
        assert.equal(fixture.node(name).metadata.annotations[ANNOTATION.changesAllowed], "false");
        assert.equal(fixture.node(name).spec.unschedulable, undefined);
      }
      const seen = fixture.seen();
      assert.ok(seen.indexOf("w-2 closed") < seen.indexOf("w-1 opened"), seen.join("\n"));
      assert.deepEqual(await fixture.stepsOf(fixture.desired(NEW)), []);
    });

  for (const [what, key, asked, after] of [
    ["a version of Kubernetes", "kubelet", "v1.36.9", `v${NEW}`],
    ["a version of containerd", "containerd", "9.9.9", undefined],
  ] as const)
    it(`takes ${what} back that an earlier run asked for`, async () => {
      fixture.reset(["cp-1", "w-1"], NEW);
      fixture.agents.misbehaving.set("w-1", "never begins");
      const requests =
        key === "kubelet"
          ? Object.fromEntries(SOFTWARE.map((name) => [ANNOTATION.desired(name), asked]))
          : { ...told, [ANNOTATION.desired(key)]: asked };
      fixture.putNode("w-1", NEW, {
        annotations: { ...done, ...open, ...requests, [ANNOTATION.ready]: "false" },
        unschedulable: true,
      });
      const steps = await fixture.stepsOf(fixture.desired(NEW));
      assert.deepEqual(
        steps.map((step) => nodeRolloutSteps.parse(step)?.kind),
        ["back"],
      );
      // its agent ends what it had begun when it is asked for what it has
      const stop = fixture.onWrite((node) => {
        const { annotations } = node.metadata;
        if (annotations[ANNOTATION.desired(key)] === after && annotations[ANNOTATION.ready] !== "true")
          fixture.annotate("w-1", { [ANNOTATION.ready]: "true" });
      });
      await fixture.update(fixture.desired(NEW)).finally(stop);
      assert.equal(fixture.node("w-1").metadata.annotations[ANNOTATION.desired(key)], after);
      assert.equal(fixture.node("w-1").spec.unschedulable, undefined);
      assert.deepEqual(await fixture.stepsOf(fixture.desired(NEW)), []);
    });

  for (const [where, over] of [
    ["open", { annotations: open }],
    ["open and the node cordoned", { annotations: open, unschedulable: true }],
  ] as const)
    it(`drains and upgrades the next node in turn, whose window is ${where} already`, async () => {
      fixture.reset(["cp-1", "w-1"], NEW);
      fixture.putNode("w-1", OLD, over);
      fixture.putPod("web-0", "w-1");
      await fixture.update(fixture.desired(NEW));
      assert.equal(fixture.server.store.objects.has("/api/v1/namespaces/web/pods/web-0"), false);
      assert.equal(fixture.node("w-1").status.nodeInfo.kubeletVersion, `v${NEW}`);
      assert.equal(fixture.node("w-1").spec.unschedulable, undefined);
      assert.deepEqual(await fixture.stepsOf(fixture.desired(NEW)), []);
    });
});
