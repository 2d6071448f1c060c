import assert from "node:assert/strict";
import { desiredCluster, type DesiredMachine } from "./desired-cluster";
import { observedCluster } from "./observed-cluster";
import { simulatedFixture } from "./simulated-fixture";

const MEMBERS = ["cp-1", "w-1", "w-2"];
const REPLACED = [
  "ClusterInit::test-init",
  "NodeGroup::test-control-plane",
  "NodeGroup::test-workers",
  "AdminKubeconfig::test-kubeconfig",
  "NodeAgents::test-node-agents",
  "NodeRollout::test-rollout",
  "ReaderAccount::test-reader",
];

/** docs/operations.md, "Pulumi's own commands": one test for each row of its table. */
describe("Pulumi's own commands", () => {
  const fixture = simulatedFixture({ machines: ["cp-1", "w-1", "w-2", "w-3"] });
  const want = (machines: (string | DesiredMachine)[]) =>
    fixture.stack.configure({ cluster: desiredCluster(fixture.fleet, machines) });
  const urnOf = async (part: string) => {
    const { resources = [] } = (await fixture.stack.export()).deployment;
    const found = resources.find(({ urn }) => urn.endsWith(part));
    assert.ok(found, `${part} is not in the state`);
    return found.urn;
  };
  const nodes = async () => Object.keys(await observedCluster(fixture.kubernetes));
  const resets = () => fixture.fleet.journal.filter(({ operation }) => operation === "reset").length;
  const changes = () =>
    fixture.fleet.journal.filter(({ operation }) => operation !== "facts").map(({ operation }) => operation);
  const expectUnchanged = async () => assert.deepEqual(Object.keys(await fixture.stack.up()), ["unchanged"]);

  before(async () => {
    want(MEMBERS);
    await fixture.stack.up();
  });

  for (const part of REPLACED)
    it(`--replace of ${part} leaves its machines as they are`, async () => {
      const urn = await urnOf(part);
      const { exitCode, stdout, stderr } = await fixture.stack.call([
        ...["up", "--yes", "--skip-preview", "--replace", urn],
      ]);
      assert.equal(exitCode, 0, stdout + stderr);
      assert.deepEqual(await nodes(), MEMBERS);
      assert.equal(resets(), 0);
      await expectUnchanged();
    });

  it("--target-replace and a taint of a pool leave its machines as they are", async () => {
    const urn = await urnOf("NodeGroup::test-workers");
    const replaced = await fixture.stack.call(["up", "--yes", "--skip-preview", "--target-replace", urn]);
    assert.equal(replaced.exitCode, 0, replaced.stdout + replaced.stderr);
    assert.equal((await fixture.stack.call(["state", "taint", urn, "--yes"])).exitCode, 0);
    await fixture.stack.up();
    assert.deepEqual(await nodes(), MEMBERS);
    assert.equal(resets(), 0);
    await expectUnchanged();
  });

  it("state delete of a pool takes no machine away, and the next up takes it into the state again", async () => {
    const urn = await urnOf("NodeGroup::test-workers");
    assert.equal(
      (await fixture.stack.call(["state", "delete", urn, "--yes", "--target-dependents", "--force"]))
        .exitCode,
      0,
    );
    await fixture.stack.up();
    assert.deepEqual(await nodes(), MEMBERS);
    assert.equal(resets(), 0);
    await expectUnchanged();
  });

  it("refresh changes no machine and no step", async () => {
    const seen = changes();
    await fixture.stack.refresh();
    assert.deepEqual(changes(), seen);
    await expectUnchanged();
  });

  it("up --target and --exclude change what they name, and the next up the rest", async () => {
    want([...MEMBERS, "w-3"]);
    const group = await urnOf("NodeGroup::test-workers");
    const { exitCode, stdout, stderr } = await fixture.stack.call([
      ...["up", "--yes", "--skip-preview", "--exclude", group, "--exclude-dependents"],
    ]);
    assert.equal(exitCode, 0, stdout + stderr);
    assert.deepEqual(await nodes(), MEMBERS);
    const targets = ["--target", group, "--target", "**w-3**"];
    const rest = await fixture.stack.call(["up", "--yes", "--skip-preview", ...targets]);
    assert.equal(rest.exitCode, 0, rest.stdout + rest.stderr);
    assert.deepEqual(await nodes(), [...MEMBERS, "w-3"]);
    await fixture.stack.up();
    await expectUnchanged();
  });

  it("destroy --target of the control planes is refused, and takes nothing away", async () => {
    const urn = await urnOf("NodeGroup::test-control-plane");
    const { exitCode, stdout, stderr } = await fixture.stack.call([
      ...["destroy", "--yes", "--skip-preview", "--target", urn, "--target-dependents"],
    ]);
    assert.notEqual(exitCode, 0, stdout);
    assert.match(stdout + stderr, /control planes are removed together with the cluster/);
    assert.deepEqual(await nodes(), [...MEMBERS, "w-3"]);
    await fixture.stack.up();
    await expectUnchanged();
  });

  it("import is refused by the engine, and leaves the state as it was", async () => {
    const before = await fixture.stack.export();
    const { exitCode } = await fixture.stack.call([
      ...["import", "pulumi-nodejs:dynamic/foresail:NodeGroup", "imported", "test/workers", "--yes"],
    ]);
    assert.notEqual(exitCode, 0);
    const { resources } = (await fixture.stack.export()).deployment;
    assert.deepEqual(
      resources?.map(({ urn }) => urn),
      before.deployment.resources?.map(({ urn }) => urn),
    );
  });

  it("destroy --run-program resets the machines", async () => {
    const { exitCode, stdout, stderr } = await fixture.stack.call([
      ...["destroy", "--yes", "--skip-preview", "--run-program"],
    ]);
    assert.equal(exitCode, 0, stdout + stderr);
    assert.ok(resets() >= MEMBERS.length, stdout);
  });
});
