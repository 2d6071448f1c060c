import assert from "node:assert/strict";
import { UNKNOWN } from "../../lib/unknown";
import { KEY, NEW, OLD, openingsOf, RolloutFixture } from "./rollout-fixture";
import { nodeRolloutSteps } from "../../providers/kubeadm/plan/steps";

const LARGE = ["cp-1", "cp-2", "cp-3", "w-1", "w-2"];

describe("a rollout of versions, in Pulumi's own process", function () {
  this.timeout(60_000);
  const fixture = new RolloutFixture();
  before(() => fixture.start());
  after(() => fixture.stop());

  it("lists every node in order, does exactly what it listed, and has nothing to do afterwards", async () => {
    fixture.reset(LARGE);
    const olds = fixture.desired(OLD);
    const news = fixture.desired(NEW);
    const { inputs, refusals } = await fixture.check(olds, news);
    assert.deepEqual(refusals, []);
    assert.deepEqual(inputs.steps, [
      "cp-1 1.35.4 → 1.36.3 (cordon, drain, kubeadm upgrade apply, uncordon)",
      ...LARGE.slice(1).map(
        (name) => `${name} 1.35.4 → 1.36.3 (cordon, drain, kubeadm upgrade node, uncordon)`,
      ),
    ]);
    assert.deepEqual(await fixture.host.diff(KEY, olds, inputs), { changes: true, replaces: [] });
    const outputs = await fixture.update(inputs, olds);
    assert.deepEqual(
      fixture.seen(),
      LARGE.flatMap((name) => [
        `${name} opened`,
        `${name} cordoned`,
        `${name} asked for 1.36.3`,
        `${name} closed`,
        `${name} uncordoned`,
      ]),
    );
    assert.equal(outputs.version, NEW);
    assert.deepEqual(
      (outputs.nodes as { version: string }[]).map(({ version }) => version),
      LARGE.map(() => NEW),
    );
    const again = await fixture.check(inputs, news);
    assert.deepEqual(again.inputs.steps, []);
    assert.deepEqual(await fixture.host.diff(KEY, outputs, again.inputs), { changes: false, replaces: [] });
  });

  it("writes an Event on each node and a line in the history for each step", async () => {
    fixture.reset(["cp-1", "w-1"], NEW);
    fixture.putNode("w-1", OLD);
    await fixture.update(fixture.desired(NEW));
    const events = [...fixture.server.store.objects]
      .filter(([path]) => path.includes("/events/"))
      .map(([, object]) => object as unknown as { reason: string; involvedObject: { name: string } });
    assert.deepEqual(
      events.map(({ reason, involvedObject }) => `${involvedObject.name} ${reason}`),
      ["RolloutStarted", "RolloutDrained", "RolloutUpgraded", "RolloutFinished"].map(
        (reason) => `w-1 ${reason}`,
      ),
    );
    assert.equal(fixture.history().length, 1);
    assert.match(
      fixture.history()[0]!,
      /^\S+Z \S+@\S+ \S+\/\S+: w-1 1\.35\.4 → 1\.36\.3 \(cordon, drain, kubeadm upgrade node, uncordon\): done, \d+ s$/,
    );
  });

  it("writes nothing and acquires no Lease while nothing is due", async () => {
    fixture.reset(LARGE, NEW);
    const before = fixture.server.store.version;
    fixture.server.calls.length = 0;
    const { outputs } = await fixture.host.create(KEY, fixture.desired(NEW));
    assert.equal((outputs.nodes as unknown[]).length, LARGE.length);
    assert.equal(fixture.server.store.version, before);
    assert.deepEqual(
      fixture.server.calls.filter((call) => !call.startsWith("GET")),
      [],
    );
  });

  it("lists only the node that has drifted", async () => {
    fixture.reset(LARGE, NEW);
    fixture.putNode("w-2", "1.36.2");
    const desired = fixture.desired(NEW);
    const { inputs } = await fixture.check(desired, desired);
    assert.deepEqual(await fixture.host.diff(KEY, desired, inputs), { changes: true, replaces: [] });
    assert.deepEqual(await fixture.stepsOf(fixture.desired(NEW)), [
      "w-2 1.36.2 → 1.36.3 (cordon, drain, kubeadm upgrade node, uncordon)",
    ]);
  });

  it("lists the rollout of 100 nodes with at most 10 requests", async () => {
    const names = ["cp-1", ...Array.from({ length: 99 }, (_, index) => `w-${index + 1}`)];
    fixture.reset(names);
    fixture.server.calls.length = 0;
    assert.equal((await fixture.stepsOf(fixture.desired(NEW))).length, 100);
    assert.ok(fixture.server.calls.length <= 10, fixture.server.calls.join("\n"));
  });

  it("lists a machine that joins before, at the version that the cluster has until then", async () => {
    fixture.reset(["cp-1", "w-1"]);
    const steps = await fixture.stepsOf(fixture.desired(NEW, {}, ["cp-1", "w-1", "w-2"]));
    assert.deepEqual(openingsOf(steps), ["cp-1 opened", "w-1 opened", "w-2 opened"]);
  });

  it("refuses a lower minor version with the reason, before anything is written", async () => {
    fixture.reset(["cp-1", "w-1"], NEW);
    const { refusals } = await fixture.check(fixture.desired(NEW), fixture.desired(OLD));
    assert.deepEqual(
      refusals.map(({ property }) => property),
      ["cluster.version"],
    );
    assert.match(refusals[0]!.reason, /can't go down a minor to 1\.35\.4/);
  });

  it("refuses a version that does not run on a node's container runtime, before anything is written", async () => {
    fixture.reset(["cp-1", "w-1"], "1.37.2");
    fixture.setRuntime("w-1", "containerd://1.7.24");
    const { refusals } = await fixture.check(fixture.desired("1.37.2"), fixture.desired("1.38.0"));
    assert.deepEqual(
      refusals.map(({ property }) => property),
      ["cluster.version"],
    );
    assert.match(refusals[0]!.reason, /^w-1: Kubernetes 1\.38\.0 does not run on containerd:\/\/1\.7\.24: /);
  });

  it("has no step on a cluster that does not exist yet", async () => {
    const news = { ...fixture.desired(NEW), kubeconfig: UNKNOWN };
    const { inputs, refusals } = await fixture.check({}, news);
    assert.deepEqual([inputs.steps, refusals], [[], []]);
  });

  it("plans from the recorded state when no API server answers, and says so first", async () => {
    fixture.reset(["cp-1", "w-1"]);
    fixture.server.intercept = () => "drop";
    const steps = await fixture.stepsOf(fixture.desired(NEW), fixture.desired(OLD));
    fixture.server.intercept = () => undefined;
    assert.equal(nodeRolloutSteps.parse(steps[0]!)?.kind, "recorded");
    assert.deepEqual(openingsOf(steps.slice(1)), ["cp-1 opened", "w-1 opened"]);
  });
});
