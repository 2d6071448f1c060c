import assert from "node:assert/strict";
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

  for (const [name, join] of [
    ["w-2", "join-worker"],
    ["cp-3", "join-control-plane"],
  ] as const)
    it(`joins anew, although ${name} still says that it is a member`, async () => {
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
