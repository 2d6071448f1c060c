import assert from "node:assert/strict";
import { desiredCluster } from "./desired-cluster";
import { simulatedFixture } from "./simulated-fixture";

const LEASE = { apiVersion: "coordination.k8s.io/v1", kind: "Lease" };

describe("a cluster under the engine whose machines are in trouble", () => {
  const fixture = simulatedFixture({ machines: ["cp-1", "w-1", "w-2"] });
  const configure = (...machines: string[]) =>
    fixture.stack.configure({ cluster: desiredCluster(fixture.fleet, machines) });
  const change = (machine: string, state: object) => {
    const { files } = fixture.fleet;
    files.saveState(machine, { ...files.state(machine), ...state });
  };
  const call = async (...command: string[]) => {
    const { exitCode, stdout, stderr } = await fixture.stack.call(command);
    return { exitCode, output: stdout + stderr };
  };
  const done = (operation: string, machine: string) =>
    fixture.fleet.journal.filter((entry) => entry.operation === operation && entry.machine === machine)
      .length;

  before(async () => {
    configure("cp-1", "w-1");
    await fixture.stack.up();
  });

  it("names an etcd that is full, with what to do, in the preview", async () => {
    const { kubernetes } = fixture;
    const ago = (seconds: number) => new Date(Date.now() - seconds * 1000).toISOString().replace("Z", "000Z");
    const renewed = (seconds: number) => ({ spec: { holderIdentity: "w-1", renewTime: ago(seconds) } });
    const reference = { ...LEASE, namespace: "kube-node-lease", name: "w-1" };
    await kubernetes.create({
      ...LEASE,
      metadata: { namespace: "kube-node-lease", name: "w-1" },
      ...renewed(0),
    });
    change("cp-1", { etcdAlarm: "NOSPACE" });
    configure("cp-1", "w-1", "w-2");
    assert.equal((await call("preview")).exitCode, 0);
    assert.equal(done("etcd-alarms", "cp-1"), 0, "etcd is not asked as long as Leases are renewed");

    await kubernetes.mergePatch(reference, renewed(600));
    const words = /etcd is full and accepts no writes \(alarm NOSPACE\): compact and defragment it/;
    const full = await call("preview");
    assert.notEqual(full.exitCode, 0);
    assert.match(full.output, words);

    change("cp-1", { etcdAlarm: undefined });
    const { exitCode, output } = await call("preview");
    assert.equal(exitCode, 0, output);
    assert.doesNotMatch(output, /renewed its Lease|etcd is full/);

    fixture.fleet.inject({
      operation: "etcd-alarms",
      machine: "cp-1",
      kind: "fail",
      stderr: "etcd gives no answer",
    });
    const unknown = await call("preview");
    assert.equal(unknown.exitCode, 0, unknown.output);
    assert.match(
      unknown.output,
      /no Node has renewed its Lease for \d+ minutes by the clock here: .*etcd could not be asked.*etcd gives no answer/,
    );
    await kubernetes.mergePatch(reference, renewed(0));
  });

  it("joins no machine whose clock differs, and says by how much", async () => {
    configure("cp-1", "w-1", "w-2");
    for (const [clockOffset, side] of [
      [-10_800, "3 hours behind"],
      [172_860, "2 days ahead of"],
    ] as const) {
      change("w-2", { clockOffset });
      const { exitCode, output } = await call("up", "--yes", "--skip-preview");
      assert.notEqual(exitCode, 0);
      assert.match(
        output,
        new RegExp(`the clock of w-2 is ${side} the clock here .*timedatectl set-ntp true`),
      );
      assert.equal(done("join-worker", "w-2"), 0);
    }
    change("w-2", { clockOffset: 30 });
    await fixture.stack.up();
    assert.equal(done("join-worker", "w-2"), 1);
    // a member keeps running, whatever its clock says
    change("w-1", { clockOffset: 86_400 });
    assert.equal((await call("up", "--yes", "--skip-preview")).exitCode, 0);
  });
});
