import assert from "node:assert/strict";
import { KEY, NEW, OLD, openingsOf, RolloutGround } from "./rollout-ground";

const LARGE = ["cp-1", "cp-2", "cp-3", "w-1", "w-2"];

describe("a rollout of versions, in Pulumi's own process", function () {
  this.timeout(60_000);
  const ground = new RolloutGround();
  before(() => ground.start());
  after(() => ground.stop());

  it("lists every node in order, does exactly that, and has nothing to do afterwards", async () => {
    ground.reset(LARGE);
    const olds = ground.wish(OLD);
    const news = ground.wish(NEW);
    const { inputs, refusals } = await ground.check(olds, news);
    assert.deepEqual(refusals, []);
    assert.deepEqual(inputs.steps, [
      "cp-1 1.35.4 → 1.36.3 (cordon, drain, kubeadm upgrade apply, uncordon)",
      ...LARGE.slice(1).map(
        (name) => `${name} 1.35.4 → 1.36.3 (cordon, drain, kubeadm upgrade node, uncordon)`,
      ),
    ]);
    assert.deepEqual(await ground.host.diff(KEY, olds, inputs), { changes: true, replaces: [] });
    const outputs = await ground.update(inputs, olds);
    assert.deepEqual(
      ground.seen(),
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
    const again = await ground.check(inputs, news);
    assert.deepEqual(again.inputs.steps, []);
    assert.deepEqual(await ground.host.diff(KEY, outputs, again.inputs), { changes: false, replaces: [] });
  });

  it("leaves an Event on each node and a line in the history for each step", async () => {
    ground.reset(["cp-1", "w-1"], NEW);
    ground.putNode("w-1", OLD);
    await ground.update(ground.wish(NEW));
    const events = [...ground.server.store.objects]
      .filter(([path]) => path.includes("/events/"))
      .map(([, object]) => object as unknown as { reason: string; involvedObject: { name: string } });
    assert.deepEqual(
      events.map(({ reason, involvedObject }) => `${involvedObject.name} ${reason}`),
      ["RolloutStarted", "RolloutDrained", "RolloutUpgraded", "RolloutFinished"].map(
        (reason) => `w-1 ${reason}`,
      ),
    );
    assert.equal(ground.history().length, 1);
    assert.match(
      ground.history()[0]!,
      /^\S+Z \S+@\S+ \S+\/\S+: w-1 1\.35\.4 → 1\.36\.3 \(cordon, drain, kubeadm upgrade node, uncordon\): done, \d+ s$/,
    );
  });

  it("writes nothing, and takes no Lease, while nothing is due", async () => {
    ground.reset(LARGE, NEW);
    const before = ground.server.store.version;
    ground.server.calls.length = 0;
    const { outputs } = await ground.host.create(KEY, ground.wish(NEW));
    assert.equal((outputs.nodes as unknown[]).length, LARGE.length);
    assert.equal(ground.server.store.version, before);
    assert.deepEqual(
      ground.server.calls.filter((call) => !call.startsWith("GET")),
      [],
    );
  });

  it("lists only the node that has drifted", async () => {
    ground.reset(LARGE, NEW);
    ground.putNode("w-2", "1.36.2");
    const wish = ground.wish(NEW);
    const { inputs } = await ground.check(wish, wish);
    assert.deepEqual(await ground.host.diff(KEY, wish, inputs), { changes: true, replaces: [] });
    assert.deepEqual(await ground.stepsOf(ground.wish(NEW)), [
      "w-2 1.36.2 → 1.36.3 (cordon, drain, kubeadm upgrade node, uncordon)",
    ]);
  });

  it("lists the rollout of 100 nodes with at most 10 requests", async () => {
    const names = ["cp-1", ...Array.from({ length: 99 }, (_, index) => `w-${index + 1}`)];
    ground.reset(names);
    ground.server.calls.length = 0;
    assert.equal((await ground.stepsOf(ground.wish(NEW))).length, 100);
    assert.ok(ground.server.calls.length <= 10, ground.server.calls.join("\n"));
  });

  it("lists a machine that joins before, at the version that the cluster has until then", async () => {
    ground.reset(["cp-1", "w-1"]);
    const steps = await ground.stepsOf(ground.wish(NEW, {}, ["cp-1", "w-1", "w-2"]));
    assert.deepEqual(openingsOf(steps), ["cp-1 opened", "w-1 opened", "w-2 opened"]);
  });

  it("refuses to go down a minor, with the reason, before anything is written", async () => {
    ground.reset(["cp-1", "w-1"], NEW);
    const { refusals } = await ground.check(ground.wish(NEW), ground.wish(OLD));
    assert.deepEqual(
      refusals.map(({ property }) => property),
      ["cluster.version"],
    );
    assert.match(refusals[0]!.reason, /can't go down a minor to 1\.35\.4/);
  });

  it("has no step on a cluster that does not exist yet", async () => {
    const news = { ...ground.wish(NEW), kubeconfig: "04da6b54-80e4-46f7-96ec-b56ff0331ba9" };
    const { inputs, refusals } = await ground.check({}, news);
    assert.deepEqual([inputs.steps, refusals], [[], []]);
  });

  it("plans from the recorded state when no API server answers, and says so first", async () => {
    ground.reset(["cp-1", "w-1"]);
    ground.server.intercept = () => "drop";
    const steps = await ground.stepsOf(ground.wish(NEW), ground.wish(OLD));
    ground.server.intercept = () => undefined;
    assert.match(steps[0]!, /^from the recorded state, since the cluster could not be read: /);
    assert.deepEqual(openingsOf(steps.slice(1)), ["cp-1 opened", "w-1 opened"]);
  });
});
