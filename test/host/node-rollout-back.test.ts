import assert from "node:assert/strict";
import {
  annotationKeys,
  BACK_FAILED,
  FAILED_CHANGE,
  GO_BACK,
} from "../../providers/kubeadm/plan/rollout/annotations";
import { nodeRolloutSteps } from "../../providers/kubeadm/plan/steps";
import { NEW, OLD, RolloutFixture } from "./rollout-fixture";

const KEYS = annotationKeys();
const SOFTWARE = ["kubeadm", "kubelet", "kubectl"];
const FINAL = SOFTWARE.map((name) => `${name}@${NEW}`).join(" ");
const WORDS = "the kubelet ended three times";

describe("a rollout whose node goes back", function () {
  this.timeout(60_000);
  const fixture = new RolloutFixture();
  before(() => fixture.start());
  after(() => fixture.stop());
  let stop = () => undefined as void;
  afterEach(() => stop());

  const BACK = { onFailure: "back", nodeTimeoutSeconds: 30 } as const;
  const annotations = (name: string) => fixture.node(name).metadata.annotations;

  /** A worker whose change fails for good. @param answer what its agent reports when it is asked to go back */
  function failingWorker(answer?: Record<string, string>): void {
    fixture.reset(["cp-1", "w-1", "w-2"], NEW);
    for (const name of ["w-1", "w-2"]) fixture.putNode(name, OLD);
    fixture.agents.misbehaving.set("w-1", "fails");
    stop = fixture.onWrite(({ metadata: { name, annotations: found } }) => {
      if (name !== "w-1" || found[KEYS.ready] !== "false") return;
      if (found[KEYS.changesAllowed] === GO_BACK) {
        if (answer && found[KEYS.finalFailure] === undefined) fixture.annotate("w-1", answer);
      } else if (found[KEYS.message] && found[KEYS.finalFailure] === undefined)
        fixture.annotate("w-1", { [KEYS.message]: WORDS, [KEYS.finalFailure]: FINAL });
    });
  }

  const failure = (over: object) =>
    fixture.update(fixture.desired(NEW, over)).then(
      () => assert.fail("the rollout did not fail"),
      (error: Error) => error.message,
    );

  it("is told so, takes pods again, and no other node gets the change", async () => {
    failingWorker({ [KEYS.ready]: "true" });
    const words = await failure(BACK);
    assert.match(
      words,
      /failed \(NodeWentBack\): w-1: the kubelet ended three times; w-1 went back to what it had, and takes pods again\n {2}next: fix the value, or take it back/,
    );
    assert.equal(fixture.node("w-1").spec.unschedulable, undefined);
    assert.equal(annotations("w-1")[KEYS.changesAllowed], "false");
    assert.equal(annotations("w-1")[KEYS.desired("kubelet")], `v${OLD}`);
    const record = JSON.parse(annotations("w-1")[FAILED_CHANGE] ?? "") as object;
    assert.deepEqual(record, {
      asked: Object.fromEntries(SOFTWARE.map((name) => [name, NEW])),
      why: `w-1: ${WORDS}`,
    });
    assert.deepEqual(fixture.openings(), ["w-1 opened"]);
  });

  it("is first in the next preview, which says why, and loses its record when it has the change", async () => {
    fixture.host.printed = "";
    const steps = (await fixture.stepsOf(fixture.desired(NEW))).map((line) => nodeRolloutSteps.parse(line));
    assert.deepEqual(
      steps.map((step) => step?.kind === "upgrade" && [step.machine, step.resumed]),
      [
        ["w-1", undefined],
        ["w-2", undefined],
      ],
    );
    assert.match(
      fixture.host.printed,
      /w-1: went back from this change in an earlier run, and is tried first again; .*: the kubelet ended three times/,
    );
    stop();
    fixture.agents.misbehaving.clear();
    fixture.agents.restart();
    await fixture.update(fixture.desired(NEW));
    assert.equal(annotations("w-1")[FAILED_CHANGE], undefined);
    assert.deepEqual(await fixture.stepsOf(fixture.desired(NEW)), []);
  });

  it("stays cordoned, with both reasons, when going back fails", async () => {
    failingWorker({ [KEYS.message]: "going back failed: no installer", [KEYS.finalFailure]: BACK_FAILED });
    const words = await failure(BACK);
    assert.match(words, /NodeRefused\): w-1: the kubelet ended three times; going back failed: no installer/);
    assert.equal(fixture.node("w-1").spec.unschedulable, true);
  });

  it("stays cordoned when it is to stop, and after a version by default", async () => {
    for (const [onFailure, why] of [
      ["stop", /it stays so, since rollout\.onFailure is stop/],
      [undefined, /it stays so: a version of Kubernetes goes back only with rollout\.onFailure: back/],
    ] as const) {
      failingWorker();
      assert.match(await failure({ nodeTimeoutSeconds: 30, ...(onFailure ? { onFailure } : {}) }), why);
      stop();
      assert.equal(fixture.node("w-1").spec.unschedulable, true);
      assert.equal(annotations("w-1")[KEYS.changesAllowed], "true");
    }
  });

  /** Two workers to upgrade, of which w-1 has a pod that a budget never lets go. */
  function blockedWorker(over: { unschedulable?: boolean } = {}): void {
    fixture.reset(["cp-1", "w-1", "w-2"], NEW);
    fixture.putNode("w-1", OLD, over);
    fixture.putNode("w-2", OLD);
    fixture.putPod("web-0", "w-1");
    fixture.server.intercept = (call) =>
      call.endsWith("/eviction")
        ? {
            status: 429,
            reason: "TooManyRequests",
            causes: ["The disruption budget web needs 1 healthy pod"],
          }
        : undefined;
  }

  it("takes pods again when its drain is blocked until the limit, since nothing on it has changed", async () => {
    blockedWorker();
    const words = await failure({});
    assert.match(
      words,
      /failed \(NodeUnchanged\): .*web\/web-0 held: .*; w-1 was not changed, and takes pods again\n {2}next: let the pods go/,
    );
    assert.equal(fixture.node("w-1").spec.unschedulable, undefined);
    assert.equal(annotations("w-1")[KEYS.changesAllowed], "false");
    assert.deepEqual(fixture.openings(), ["w-1 opened"]);
    assert.equal(
      (await fixture.stepsOf(fixture.desired(NEW)))[0],
      `w-1 ${OLD} → ${NEW} (cordon, drain, kubeadm upgrade node, uncordon)`,
    );
  });

  it("stays cordoned when its drain is blocked, by a person before or with onFailure: stop", async () => {
    blockedWorker({ unschedulable: true });
    assert.match(await failure({}), /w-1 was not changed, and is cordoned as before/);
    assert.equal(fixture.node("w-1").spec.unschedulable, true);
    blockedWorker();
    assert.match(await failure({ onFailure: "stop" }), /WaitTimeout\): .*web\/web-0 held/);
    assert.equal(fixture.node("w-1").spec.unschedulable, true);
    assert.equal(annotations("w-1")[KEYS.changesAllowed], "true");
  });

  it("goes on with the change when its run was killed while it went back", async () => {
    fixture.reset(["cp-1", "w-1"], NEW);
    const asked = Object.fromEntries(SOFTWARE.map((name) => [KEYS.desired(name), `v${NEW}`]));
    fixture.putNode("w-1", OLD, {
      annotations: { ...asked, [KEYS.changesAllowed]: GO_BACK, [KEYS.ready]: "true" },
      unschedulable: true,
    });
    const [step] = await fixture.stepsOf(fixture.desired(NEW));
    assert.match(step ?? "", /begun by an earlier run/);
    await fixture.update(fixture.desired(NEW));
    assert.equal(fixture.node("w-1").status.nodeInfo.kubeletVersion, `v${NEW}`);
    assert.equal(fixture.node("w-1").spec.unschedulable, undefined);
    assert.deepEqual(await fixture.stepsOf(fixture.desired(NEW)), []);
  });

  it("keeps its pods for a patch version where that is configured, and is cordoned meanwhile", async () => {
    fixture.reset(["cp-1", "w-1"], NEW);
    fixture.putNode("w-1", "1.36.2");
    fixture.putPod("web-0", "w-1");
    const news = fixture.desired(NEW, { drain: { patchReleases: false } });
    const [step] = await fixture.stepsOf(news);
    assert.equal(step, `w-1 1.36.2 → ${NEW} (cordon, keep its pods, kubeadm upgrade node, uncordon)`);
    await fixture.update(news);
    assert.ok(fixture.server.store.objects.has("/api/v1/namespaces/web/pods/web-0"));
    assert.ok(fixture.seen().includes("w-1 cordoned"));
    assert.equal(fixture.node("w-1").spec.unschedulable, undefined);
  });
});
