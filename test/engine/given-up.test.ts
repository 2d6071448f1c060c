import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { desiredCluster } from "./desired-cluster";
import { killedDuring } from "./killed-up";
import { observedCluster } from "./observed-cluster";
import { simulatedFixture } from "./simulated-fixture";

describe("a machine that was given up as lost, answers again and is configured again", function () {
  this.timeout(300_000);
  const fixture = simulatedFixture({ machines: ["cp-1", "cp-2", "cp-3", "w-1", "w-2"] });
  const all = ["cp-1", "cp-2", "cp-3", "w-1", "w-2"];
  const want = (machines: string[], lost: string[] = []) =>
    fixture.stack.configure({
      cluster: desiredCluster(fixture.fleet, machines, { lost, allowEvenControlPlanes: true }),
    });

  before(async () => {
    want(all);
    await fixture.stack.up();
  });

  for (const [name, join, line] of [
    ["w-2", "join-worker", /^w-2: is a member that was given up: reset its membership, join as worker of/],
    ["cp-3", "join-control-plane", /^cp-3: is a member that was given up: .* join as control plane/],
  ] as const)
    it(`joins again, although ${name} still says that it is a member`, async () => {
      const { fleet, stack, kubernetes } = fixture;
      fleet.powerOff(name);
      want(
        all.filter((each) => each !== name),
        [name],
      );
      await stack.up();
      assert.equal(Object.keys(await observedCluster(kubernetes)).includes(name), false);
      fleet.powerOn(name);
      assert.equal(fleet.state(name).member, true);
      want(all);
      const lines = (await stack.preview()).flatMap(({ inputs }) => (inputs["steps"] ?? []) as string[]);
      assert.equal(lines.filter((each) => line.test(each)).length, 1, lines.join("\n"));
      const from = fleet.journal.length;
      await stack.up();
      const operations = fleet.journal
        .slice(from)
        .filter(({ machine }) => machine === name)
        .map(({ operation }) => operation);
      assert.deepEqual(
        operations.filter((operation) => /forget|join|register/.test(operation)),
        ["forget-membership", join],
      );
      assert.deepEqual(Object.keys(await observedCluster(kubernetes)), all);
      assert.deepEqual(await stack.preview(), []);
    });
});

describe("a machine that was reinstalled, and whose Node was deleted by hand", function () {
  this.timeout(300_000);
  const fixture = simulatedFixture({ machines: ["cp-1", "w-1"] });
  const want = (machines: string[], others: Record<string, unknown> = {}) =>
    fixture.stack.configure({ cluster: desiredCluster(fixture.fleet, machines, others) });

  beforeEach(async () => {
    const { fleet, stack, kubernetes } = fixture;
    want(["cp-1", "w-1"]);
    await stack.up();
    const { marker: _, ...state } = fleet.state("w-1");
    fleet.files.saveState("w-1", { ...state, member: false, prepared: false });
    await kubernetes.delete({ apiVersion: "v1", kind: "Node", name: "w-1" });
  });

  it("is refused by the preview, and joins after it was taken out and added again", async () => {
    const { stack, kubernetes } = fixture;
    const { exitCode, stdout, stderr } = await stack.call(["preview"]);
    assert.notEqual(exitCode, 0);
    assert.match(stdout + stderr, /w-1: nothing is prepared on this machine/);
    want(["cp-1"]);
    await stack.up();
    want(["cp-1", "w-1"]);
    await stack.up();
    assert.deepEqual(Object.keys(await observedCluster(kubernetes)), ["cp-1", "w-1"]);
    assert.deepEqual(await stack.preview(), []);
  });

  it("joins when another bootstrapRevision prepares it", async () => {
    const { stack, kubernetes } = fixture;
    want(["cp-1", "w-1"], { bootstrapRevision: "2" });
    await stack.up();
    assert.deepEqual(Object.keys(await observedCluster(kubernetes)), ["cp-1", "w-1"]);
    assert.deepEqual(await stack.preview(), []);
  });
});

describe("a control plane that no state has and whose Node was deleted by hand", function () {
  this.timeout(300_000);
  const fixture = simulatedFixture({ machines: ["cp-1", "w-1"] });

  it("registers again, since it is etcd's only member", async () => {
    const { fleet, stack, kubernetes } = fixture;
    stack.configure({ cluster: desiredCluster(fleet, ["cp-1", "w-1"]) });
    await killedDuring(fixture, { operation: "admin-kubeconfig", machine: "cp-1" });
    await kubernetes.delete({ apiVersion: "v1", kind: "Node", name: "cp-1" });
    const from = fleet.journal.length;
    await stack.up();
    const operations = fleet.journal
      .slice(from)
      .filter(({ machine }) => machine === "cp-1")
      .map(({ operation }) => operation);
    assert.deepEqual(
      operations.filter((operation) => /forget|join|register/.test(operation)),
      ["register"],
    );
  });
});

describe("a worker whose kubelet lost its credentials before it leaves", function () {
  this.timeout(300_000);
  const fixture = simulatedFixture({ machines: ["cp-1", "w-1"] });
  const want = (machines: string[]) =>
    fixture.stack.configure({
      cluster: desiredCluster(fixture.fleet, machines, { drain: { timeoutSeconds: 5 } }),
    });

  /** Lets the kubelet of w-1 end, with a pod that stays after its eviction, and comes back without credentials. */
  async function loseKubelet(): Promise<void> {
    const { fleet, kubernetes } = fixture;
    const owner = { apiVersion: "apps/v1", kind: "ReplicaSet", name: "web", uid: "u", controller: true };
    const metadata = { name: "web", namespace: "default", ownerReferences: [owner] };
    await kubernetes.create({
      ...{ apiVersion: "v1", kind: "Pod", metadata: { ...metadata, finalizers: ["example.org/stays"] } },
      spec: { nodeName: "w-1", containers: [{ name: "web", image: "web" }] },
    });
    fleet.powerOff("w-1");
    const isReady = async () => {
      const { status } = (await kubernetes.getNode("w-1"))!;
      return status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True");
    };
    for (const deadline = Date.now() + 10_000; await isReady(); await pause(50))
      assert.ok(Date.now() < deadline, "w-1 is still Ready");
    fleet.files.saveState("w-1", { ...fleet.state("w-1"), member: false, hasPods: true });
    fleet.powerOn("w-1");
  }

  it("is drained while its pods run, although the kubelet is not a member", async () => {
    want(["cp-1", "w-1"]);
    await fixture.stack.up();
    await loseKubelet();
    want(["cp-1"]);
    await assert.rejects(fixture.stack.up(), /default\/web/);
    assert.ok("w-1" in (await observedCluster(fixture.kubernetes)));
  });

  it("leaves without a drain once others have reset it, since its pods are never reported to have ended", async () => {
    const { fleet, kubernetes, stack } = fixture;
    fleet.files.saveState("w-1", { ...fleet.state("w-1"), hasPods: false });
    await stack.up();
    assert.deepEqual(Object.keys(await observedCluster(kubernetes)), ["cp-1"]);
    assert.equal(fleet.state("w-1").marker, undefined);
    assert.deepEqual(await stack.preview(), []);
  });
});
