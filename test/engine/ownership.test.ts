import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import path from "node:path";
import { parseMachineMark } from "../../providers/kubeadm/plan/facts/machine-mark";
import { CLUSTER_OWNER } from "../../providers/kubeadm/plan/facts/owner-record";
import { writesOf } from "../simulation/journal";
import { desiredCluster, type DesiredMachine } from "./desired-cluster";
import { killedDuring } from "./killed-up";
import { observedCluster } from "./observed-cluster";
import { simulatedFixture } from "./simulated-fixture";
import { TestStack } from "./test-stack";

describe("the owner of a cluster under the engine", function () {
  this.timeout(600_000);
  const fixture = simulatedFixture({ machines: ["cp-1", "w-1", "w-2", "w-9"] });
  let staging: TestStack;

  const want = (
    stack: TestStack,
    machines: (string | DesiredMachine)[],
    others: Record<string, unknown> = {},
  ) => stack.configure({ cluster: desiredCluster(fixture.fleet, machines, others) });
  const ownerOf = (machine: string) => {
    const mark = parseMachineMark(fixture.fleet.state(machine).marker ?? "");
    return typeof mark === "object" && "owner" in mark ? mark.owner : undefined;
  };
  const recorded = async () =>
    (await fixture.kubernetes.get<{ data?: Record<string, string> }>(CLUSTER_OWNER))?.data;
  const identity = async (stack: TestStack) => {
    const { resources = [] } = (await stack.export()).deployment;
    return (resources.find(({ type }) => type.endsWith(":StackIdentity")) as { id?: string } | undefined)?.id;
  };
  const writesSince = (count: number) => writesOf(fixture.fleet.journal.slice(count));
  /** Runs a command that has to fail with these words, and writes nothing on any machine. */
  async function refused(stack: TestStack, args: readonly string[], words: RegExp): Promise<string> {
    const before = fixture.fleet.journal.length;
    const { exitCode, stdout, stderr } = await stack.call(args);
    assert.notEqual(exitCode, 0, stdout);
    assert.match(stdout + stderr, words);
    assert.deepEqual(
      writesSince(before).filter(({ outcome }) => outcome !== "refused"),
      [],
    );
    return stdout + stderr;
  }

  before(async () => {
    const { folder, toolchain, fleet } = fixture;
    staging = await new TestStack({ folder, project: "foresail", stack: "staging" }, toolchain).create();
    await staging.setSecret("sshPrivateKey", fleet.privateKey);
  });

  it("gives back the machines of a first up that was killed during kubeadm init, although the state has no cluster", async () => {
    want(fixture.stack, ["cp-1", "w-1"]);
    await killedDuring(fixture, { operation: "init", machine: "cp-1" });
    assert.ok(ownerOf("cp-1") && ownerOf("w-1"));
    fixture.fleet.powerOff("w-1");
    const { exitCode, stdout } = await fixture.stack.call(["destroy", "--yes", "--skip-preview"]);
    assert.notEqual(exitCode, 0);
    assert.match(stdout, /w-1: .*next: start these machines/s);
    fixture.fleet.powerOn("w-1");
    await fixture.stack.destroy();
    for (const name of ["cp-1", "w-1"]) {
      const { marker, member, prepared } = fixture.fleet.state(name);
      assert.deepEqual([name, marker, member, prepared], [name, undefined, false, false]);
    }
    await fixture.kubernetes.delete({ apiVersion: "v1", kind: "Node", name: "cp-1" });
  });

  it("is recorded on the machines and in the cluster, and costs a preview without changes nothing", async () => {
    want(fixture.stack, ["cp-1", "w-1"]);
    await fixture.stack.up();
    const owner = { id: await identity(fixture.stack), stack: "organization/foresail/test" };
    assert.deepEqual([ownerOf("cp-1"), ownerOf("w-1"), await recorded()], [owner, owner, owner]);
    const before = fixture.fleet.journal.length;
    assert.deepEqual(await fixture.stack.preview(), []);
    assert.deepEqual(fixture.fleet.journal.slice(before), []);
  });

  it("takes a machine out again whose join was killed, as a step of the preview", async () => {
    const { stack, fleet } = fixture;
    want(stack, ["cp-1", "w-1", "w-2"]);
    await killedDuring(fixture, { operation: "join-worker", machine: "w-2" });
    assert.ok(ownerOf("w-2"));
    want(stack, ["cp-1", "w-1"]);
    const steps = (await stack.preview()).find(({ name }) => name === "test-workers")?.inputs.steps;
    assert.match(
      String(steps),
      /^w-2: prepared by a run that was interrupted; cordon, drain, .*delete its Node$/,
    );
    await stack.up();
    const { marker, member } = fleet.state("w-2");
    assert.deepEqual([marker, member], [undefined, false]);
    assert.deepEqual(Object.keys(await observedCluster(fixture.kubernetes)), ["cp-1", "w-1"]);
    assert.deepEqual(await stack.preview(), []);
  });

  it("previews the removal of such a machine as long as its Node is there, also when its removal failed and it is off", async () => {
    const { stack, fleet, kubernetes } = fixture;
    want(stack, ["cp-1", "w-1", "w-2"]);
    await killedDuring(fixture, { operation: "join-worker", machine: "w-2" });
    const node = { apiVersion: "v1", kind: "Node", name: "w-2" };
    if (!(await kubernetes.get(node)))
      await kubernetes.create({ apiVersion: "v1", kind: "Node", metadata: { name: "w-2" } });
    want(stack, ["cp-1", "w-1"]);
    fleet.inject({ operation: "reset", machine: "w-2", kind: "fail", stderr: "simulated" });
    assert.notEqual((await stack.call(["up", "--yes", "--skip-preview"])).exitCode, 0);
    fleet.powerOff("w-2");
    const stepsOf = async () =>
      (await stack.preview()).flatMap(({ name, inputs: { steps } }) =>
        Array.isArray(steps) && steps.length > 0 ? [[name, String(steps)]] : [],
      );
    const [[group, step] = [], ...others] = await stepsOf();
    assert.deepEqual([group, others], ["test-workers", []]);
    assert.match(
      String(step),
      /^w-2: prepared by a run that was interrupted; cordon, drain, .*delete its Node$/,
    );
    const failed = await stack.call(["up", "--yes", "--skip-preview"]);
    assert.notEqual(failed.exitCode, 0);
    assert.match(failed.stdout, /remove w-2 failed/);
    want(stack, ["cp-1", "w-1"], { lost: ["w-2"] });
    assert.deepEqual(await stepsOf(), [["test-control-plane", "w-2: lost, delete its Node"]]);
    await stack.up();
    assert.deepEqual(Object.keys(await observedCluster(kubernetes)), ["cp-1", "w-1"]);
    want(stack, ["cp-1", "w-1"]);
    await stack.up();
    assert.deepEqual(await stack.preview(), []);
  });

  it("refuses a second stack in its preview and in its up, by name, and before anything is recorded", async () => {
    want(staging, ["cp-1", "w-1"]);
    const words = /cp-1 belongs to the stack organization\/foresail\/test \([0-9a-f-]{36}\).*w-1 belongs/s;
    await refused(staging, ["preview"], words);
    await refused(staging, ["up", "--yes", "--skip-preview"], words);
    const { resources = [] } = (await staging.export()).deployment;
    const recordedTypes = resources.map(({ type }) => type.split(":").pop());
    for (const type of ["ClusterOwner", "Command", "ClusterInit"])
      assert.ok(!recordedTypes.includes(type), type);
    await staging.destroy();
    assert.deepEqual(Object.keys(await observedCluster(fixture.kubernetes)), ["cp-1", "w-1"]);
  });

  it("refuses another name of the cluster, other names of machines, and machines that change places", async () => {
    const { stack } = fixture;
    want(stack, ["cp-1", "w-1"], { name: "other" });
    await refused(
      stack,
      ["preview"],
      /the cluster of this stack is test, and can't be renamed to other.*cluster\.name: test/s,
    );
    const { name: _name, apiServer: _api, ...place } = fixture.fleet.machine("w-1");
    want(stack, ["cp-1", { name: "w-9", ...place }]);
    await refused(stack, ["preview"], /w-9 is the machine w-1 of this stack.*write name: w-1/s);
    fixture.fleet.powerOff("w-1");
    want(stack, ["cp-1", { name: "w-9", ...place }]);
    await refused(stack, ["preview"], /w-9 has the address of the machine w-1/);
    fixture.fleet.powerOn("w-1");
    want(stack, ["cp-1", "w-1"]);
    assert.deepEqual(await stack.preview(), []);
  });

  it("stays the stack's when the stack is renamed, and when its state moves to another backend", async () => {
    const { stack, folder, toolchain } = fixture;
    const id = await identity(stack);
    const renamed = new TestStack({ folder, project: "foresail", stack: "renamed" }, toolchain);
    assert.equal((await stack.call(["stack", "rename", "renamed"])).exitCode, 0);
    const steps = (await renamed.preview()).flatMap(({ inputs }) => (inputs.steps ?? []) as string[]);
    assert.deepEqual(steps, ["cluster: record organization/foresail/renamed as its owner"]);
    await renamed.up();
    assert.deepEqual(await recorded(), { id, stack: "organization/foresail/renamed" });
    assert.deepEqual(await renamed.preview(), []);
    assert.equal((await renamed.call(["stack", "rename", "test"])).exitCode, 0);
    const stateFolder = path.join(folder, "other-backend");
    mkdirSync(stateFolder);
    const exported = (await stack.call(["stack", "export", "--show-secrets"])).stdout;
    const moved = await new TestStack(
      { folder, project: "foresail", stack: "test", stateFolder },
      toolchain,
    ).create();
    assert.equal((await moved.call(["stack", "import"], { input: exported })).exitCode, 0);
    assert.equal(await identity(moved), id);
    await moved.up();
    assert.deepEqual(await moved.preview(), []);
    assert.equal((await recorded())?.id, id);
  });

  it("changes deliberately with takeOver, as steps of the preview, and the former stack is refused from then on", async () => {
    const former = await identity(fixture.stack);
    want(fixture.stack, ["cp-1", "w-1"]);
    await fixture.stack.up();
    want(staging, ["cp-1", "w-1"], { takeOver: former });
    const steps = (await staging.preview()).find(({ name }) => name === "test-owner")?.inputs.steps;
    const from = `organization/foresail/test (${former})`;
    assert.deepEqual(steps, [`cp-1: take over from ${from}`, `w-1: take over from ${from}`]);
    await staging.up();
    const owner = { id: await identity(staging), stack: "organization/foresail/staging" };
    assert.deepEqual([ownerOf("cp-1"), ownerOf("w-1"), await recorded()], [owner, owner, owner]);
    assert.deepEqual(await staging.preview(), []);
    const words = /the cluster belongs to the stack organization\/foresail\/staging/;
    await refused(fixture.stack, ["preview"], words);
    await refused(fixture.stack, ["refresh", "--yes", "--skip-preview"], words);
    want(fixture.stack, ["cp-1"]);
    await refused(
      fixture.stack,
      ["up", "--yes", "--skip-preview"],
      /belongs to the stack organization\/foresail\/staging/,
    );
  });

  it("lets the former stack forget the cluster, and touches nothing", async () => {
    const { stack } = fixture;
    const said = await refused(
      stack,
      ["destroy", "--yes", "--skip-preview"],
      /no longer this stack's, so no machine was touched/,
    );
    assert.match(said, /pulumi state delete --force --target-dependents/);
    const { resources = [] } = (await stack.export()).deployment;
    const urn = resources.find(({ type }) => type.endsWith(":ClusterInit"))?.urn ?? "";
    const args = ["state", "delete", "--force", "--target-dependents", "--yes", urn];
    assert.equal((await stack.call(args)).exitCode, 0);
    await stack.destroy();
    assert.deepEqual(Object.keys(await observedCluster(fixture.kubernetes)), ["cp-1", "w-1"]);
    assert.equal(ownerOf("cp-1")?.stack, "organization/foresail/staging");
    await staging.destroy();
    assert.deepEqual([ownerOf("cp-1"), ownerOf("w-1")], [undefined, undefined]);
  });
});
