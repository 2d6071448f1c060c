import assert from "node:assert/strict";
import { NEW, OLD, RolloutFixture } from "./rollout-fixture";
import { annotationKeys } from "../../providers/kubeadm/plan/rollout/annotations";
import { nodeRolloutSteps } from "../../providers/kubeadm/plan/steps";
import { stepsOfKind } from "../support/steps";

const KEYS = annotationKeys();
const LARGE = ["cp-1", "cp-2", "cp-3", "w-1", "w-2"];

describe("a rollout with a node that does not complete", function () {
  this.timeout(60_000);
  const fixture = new RolloutFixture();
  before(() => fixture.start());
  after(() => fixture.stop());

  const failure = async (over = {}) => {
    const news = fixture.desired(NEW, { nodeTimeoutSeconds: 1, ...over });
    await assert.rejects(fixture.update(news), (error: Error) => {
      failure.words = error.message;
      return true;
    });
    return failure.words;
  };
  failure.words = "";

  it("stops the rollout with its name and its agent's last message, and leaves the other nodes untouched", async () => {
    fixture.reset(LARGE, NEW);
    for (const name of ["w-1", "w-2"]) fixture.putNode(name, OLD);
    fixture.agents.misbehaving.set("w-1", "fails");
    assert.match(
      await failure(),
      /w-1 1\.35\.4 → 1\.36\.3 .* failed \(WaitTimeout\): waited 1 s for w-1 to run 1\.36\.3.*the source has no such version/s,
    );
    assert.deepEqual(
      fixture.seen().filter((line) => line.startsWith("w-2")),
      [],
    );
    assert.match(fixture.history().at(-1)!, /w-1 .* failed: waited 1 s/);
    assert.equal(fixture.node("w-1").spec.unschedulable, true);
  });

  it("is previewed as begun by an earlier run, and completed first by the next one", async () => {
    const steps = await fixture.stepsOf(fixture.desired(NEW));
    const upgrades = stepsOfKind(nodeRolloutSteps, "upgrade", steps);
    assert.deepEqual(
      upgrades.map(({ machine, resumed }) => [machine, resumed === true]),
      [
        ["w-1", true],
        ["w-2", false],
      ],
    );
    fixture.agents.misbehaving.clear();
    fixture.agents.restart();
    fixture.forget();
    await fixture.update(fixture.desired(NEW));
    assert.deepEqual(fixture.seen(), [
      "w-1 closed",
      "w-1 uncordoned",
      ...["opened", "cordoned", "asked for 1.36.3", "closed", "uncordoned"].map((what) => `w-2 ${what}`),
    ]);
    assert.deepEqual(await fixture.stepsOf(fixture.desired(NEW)), []);
  });

  it("ends at once when its agent would fail in the same way again, and makes it try again next time", async () => {
    fixture.reset(["cp-1", "w-1"], NEW);
    fixture.putNode("w-1", OLD);
    fixture.agents.misbehaving.set("w-1", "fails");
    const final = ["kubeadm", "kubelet", "kubectl"].map((name) => `${name}@${NEW}`).join(" ");
    const stop = fixture.onWrite(({ metadata: { name, annotations } }) => {
      if (name === "w-1" && annotations[KEYS.message] && annotations[KEYS.finalFailure] === undefined)
        fixture.annotate("w-1", { [KEYS.finalFailure]: final });
    });
    // far more than the test may take
    const words = await failure({ nodeTimeoutSeconds: 600 });
    stop();
    assert.match(
      words,
      /failed \(NodeRefused\): w-1: the source has no such version; it stays so: a version .*\n {2}next: fix the value, or/,
    );
    fixture.agents.misbehaving.clear();
    fixture.agents.restart();
    await fixture.update(fixture.desired(NEW));
    assert.equal(fixture.node("w-1").metadata.annotations[KEYS.finalFailure], undefined);
    assert.equal(fixture.node("w-1").status.nodeInfo.kubeletVersion, `v${NEW}`);
  });

  for (const [behavior, words] of [
    ["never begins", /the node agent has not begun: kubelet 1\.35\.4, not 1\.36\.3/],
    ["never Ready", /last seen: not Ready: KubeletNotReady: no network/],
  ] as const)
    it(`names the node with its last condition when it ${behavior}`, async () => {
      fixture.reset(["cp-1", "w-1", "w-2"], NEW);
      for (const name of ["w-1", "w-2"]) fixture.putNode(name, OLD);
      fixture.agents.misbehaving.set("w-1", behavior);
      assert.match(await failure(), words);
      assert.deepEqual(fixture.openings(), ["w-1 opened"]);
    });

  it("waits for the other nodes in progress, and begins no more", async () => {
    fixture.reset(["cp-1", "w-1", "w-2", "w-3"], NEW);
    for (const name of ["w-1", "w-2", "w-3"]) fixture.putNode(name, OLD);
    fixture.agents.misbehaving.set("w-1", "never begins");
    assert.match(await failure({ maxUnavailable: 2 }), /w-1 /);
    assert.equal(fixture.node("w-2").status.nodeInfo.kubeletVersion, `v${NEW}`);
    assert.equal(fixture.node("w-2").spec.unschedulable, undefined);
    assert.ok(fixture.openings().length <= 3);
  });

  it("names the pod and the budget that block its drain, in the preview and in the failure", async () => {
    fixture.reset(["cp-1", "w-1", "w-2"], NEW);
    for (const name of ["w-1", "w-2"]) fixture.putNode(name, OLD);
    fixture.putPod("web-0", "w-1");
    fixture.server.store.put("/apis/policy/v1/namespaces/web/poddisruptionbudgets/web", {
      apiVersion: "policy/v1",
      kind: "PodDisruptionBudget",
      metadata: { name: "web", namespace: "web" },
      spec: { selector: { matchLabels: { app: "web" } } },
      status: { disruptionsAllowed: 0 },
    });
    fixture.server.intercept = (call) =>
      call.endsWith("/eviction")
        ? {
            status: 429,
            reason: "TooManyRequests",
            causes: ["The disruption budget web needs 1 healthy pod"],
          }
        : undefined;
    fixture.host.printed = "";
    await fixture.stepsOf(fixture.desired(NEW));
    assert.match(
      fixture.host.printed,
      /w-1: the drain would wait: web\/web-0 is held by the PodDisruptionBudget web/,
    );
    assert.match(await failure(), /web\/web-0 held: The disruption budget web needs 1 healthy pod/);
    assert.equal(
      fixture.node("w-1").metadata.annotations["alpha.kubelet.caos.ch/desired-version"],
      undefined,
    );
    fixture.server.intercept = () => undefined;
  });

  it("loses only the notes on drains in the preview when the pods can't be read", async () => {
    fixture.reset(["cp-1", "w-1"], NEW);
    fixture.putNode("w-1", OLD);
    const steps = await fixture.stepsOf(fixture.desired(NEW));
    assert.ok(steps.length > 0);
    fixture.server.intercept = (call) =>
      call === "GET /api/v1/pods" ? { status: 403, reason: "Forbidden", message: "no pods" } : undefined;
    fixture.host.printed = "";
    assert.deepEqual(await fixture.stepsOf(fixture.desired(NEW)), steps);
    assert.match(
      fixture.host.printed,
      /what would block the drains could not be read: .*403 Forbidden: no pods/,
    );
    fixture.server.intercept = () => undefined;
  });

  it("begins no control plane whose absence would cost etcd its quorum", async () => {
    fixture.reset(LARGE);
    fixture.illMembers.add("cp-3");
    assert.match(
      await failure(),
      /while cp-1 is away etcd would have 1 healthy of 3 members.*not healthy: cp-3/s,
    );
    assert.equal(fixture.node("cp-1").spec.unschedulable, undefined);
    assert.deepEqual(fixture.openings(), ["cp-1 opened"]);
  });

  it("begins no such control plane either when its Node has lost the role label", async () => {
    fixture.reset(LARGE);
    fixture.illMembers.add("cp-3");
    fixture.dropLabel("cp-1", "node-role.kubernetes.io/control-plane");
    assert.match(
      await failure(),
      /while cp-1 is away etcd would have 1 healthy of 3 members.*not healthy: cp-3/s,
    );
    assert.equal(fixture.node("cp-1").spec.unschedulable, undefined);
  });

  it("begins no control plane while another etcd member restarts, and continues when that answers", async () => {
    fixture.reset(["cp-1", "cp-2", "cp-3"]);
    fixture.etcdSilences = 1;
    fixture.host.printed = "";
    await fixture.update(fixture.desired(NEW));
    assert.equal(fixture.etcdSilences, 0);
    assert.match(fixture.host.printed, /quorum without cp-1, last saw etcd gives no answer on cp-2/);
    assert.deepEqual(fixture.openings(), ["cp-1 opened", "cp-2 opened", "cp-3 opened"]);
  });
});
