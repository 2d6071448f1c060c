import assert from "node:assert/strict";
import { NEW, OLD, RolloutGround } from "./rollout-ground";

const ANNOTATION = {
  changesAllowed: "alpha.node.caos.ch/changes-allowed",
  ready: "alpha.node.caos.ch/ready",
  desired: (software: string) => `alpha.${software}.caos.ch/desired-version`,
  current: (software: string) => `alpha.${software}.caos.ch/current-version`,
};
const SOFTWARE = ["kubelet", "kubeadm", "kubectl"];

describe("a rollout whose run was killed", function () {
  this.timeout(60_000);
  const ground = new RolloutGround();
  before(() => ground.start());
  after(() => ground.stop());

  const told = Object.fromEntries(SOFTWARE.map((name) => [ANNOTATION.desired(name), `v${NEW}`]));
  const done = Object.fromEntries(SOFTWARE.map((name) => [ANNOTATION.current(name), `v${NEW}`]));
  const open = { [ANNOTATION.changesAllowed]: "true" };
  for (const [where, version, over] of [
    ["the window was open", OLD, { annotations: open }],
    ["the node was cordoned", OLD, { annotations: open, unschedulable: true }],
    ["the node was told", OLD, { annotations: { ...open, ...told }, unschedulable: true }],
    [
      "the agent was at work",
      OLD,
      { annotations: { ...open, ...told, [ANNOTATION.ready]: "false" }, unschedulable: true },
    ],
    ["the node was done", NEW, { annotations: { ...open, ...told, ...done }, unschedulable: true }],
  ] as const)
    it(`is taken up when ${where}`, async () => {
      ground.reset(["cp-1", "w-1", "w-2"], NEW);
      ground.putNode("w-1", OLD);
      ground.putNode("w-2", version, over);
      ground.agents.look();
      const steps = await ground.stepsOf(ground.wish(NEW));
      assert.match(steps[0]!, /^w-2 .*begun by an earlier run/);
      await ground.update(ground.wish(NEW));
      for (const name of ["w-1", "w-2"]) {
        assert.equal(ground.node(name).status.nodeInfo.kubeletVersion, `v${NEW}`);
        assert.equal(ground.node(name).metadata.annotations[ANNOTATION.changesAllowed], "false");
        assert.equal(ground.node(name).spec.unschedulable, undefined);
      }
      const seen = ground.seen();
      assert.ok(seen.indexOf("w-2 closed") < seen.indexOf("w-1 opened"), seen.join("\n"));
      assert.deepEqual(await ground.stepsOf(ground.wish(NEW)), []);
    });

  for (const [where, over] of [
    ["open", { annotations: open }],
    ["open and the node cordoned", { annotations: open, unschedulable: true }],
  ] as const)
    it(`drains and asks the next node in turn, whose window is ${where} already`, async () => {
      ground.reset(["cp-1", "w-1"], NEW);
      ground.putNode("w-1", OLD, over);
      ground.putPod("web-0", "w-1");
      await ground.update(ground.wish(NEW));
      assert.equal(ground.server.store.objects.has("/api/v1/namespaces/web/pods/web-0"), false);
      assert.equal(ground.node("w-1").status.nodeInfo.kubeletVersion, `v${NEW}`);
      assert.equal(ground.node("w-1").spec.unschedulable, undefined);
      assert.deepEqual(await ground.stepsOf(ground.wish(NEW)), []);
    });
});
