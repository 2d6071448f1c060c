import assert from "node:assert/strict";
import { GENERATIONS } from "../support/tumblebug";
import { readyNodes } from "../cluster/reachability";
import { TumblebugTestCluster, type DesiredGroup } from "../cluster/tumblebug-test-cluster";
import { leaveOut } from "../left-out";
import { oneAfterTheOther } from "../one-after-the-other";
import { tumblebugPlanSteps } from "../../providers/tumblebug/plan/steps";
import { stepsOfKind } from "../support/steps";

const ALL_TESTS = process.env.FORESAIL_TEST_ALL === "1";
const ONE_AND_ONE = [
  { name: "cp", replicas: 1 },
  { name: "w", replicas: 1 },
];

/** One way to the API a generation: through haproxy on every node, and through the cloud's load balancer. */
const ENDPOINTS = { mcis: { loopback: { port: 8443 } }, infra: { nlb: { port: 6443 } } };

for (const generation of GENERATIONS)
  describe(`a cluster on VMs of CB-Tumblebug (${generation})`, function () {
    this.timeout(600_000);
    let cluster: TumblebugTestCluster;
    let empty: Record<string, string[]>;

    before(async function () {
      if (!ALL_TESTS && generation === "mcis")
        leaveOut(
          this,
          "by default tumblebug-examples.test.ts covers such a cluster with dev-seoul; FORESAIL_TEST_ALL=1 includes this one",
        );
      cluster = await TumblebugTestCluster.create("e2e-tumblebug", generation, [["aws", "ap-northeast-2"]]);
      empty = await cluster.contents();
    });

    oneAfterTheOther();

    after(() => cluster?.remove());

    it("comes up in one `pulumi up`, and the next one changes nothing", async () => {
      await cluster.configure(ONE_AND_ONE, { endpoint: ENDPOINTS[generation] });
      await cluster.up();
      assert.deepEqual(await readyNodes(cluster), ["cp-1", "w-1"]);
      const { machines, vNets, infrastructures } = await cluster.contents();
      assert.equal(machines?.length, 2);
      assert.deepEqual([vNets?.length, infrastructures], [1, ["e2e-tumblebug"]]);
      assert.deepEqual((await cluster.stack.previewed()).changes, []);
    });

    it("agrees with the state in a refresh, which shows no secret", async () => {
      const { exitCode, words } = await cluster.stack.refresh();
      assert.equal(exitCode, 0, words);
      assert.doesNotMatch(words, /updated|deleted/);
      const state = await cluster.stack.export();
      const keys = await cluster.withServer(({ sshKeys }) => sshKeys.list("sandbox"));
      const keyLines = keys.map(({ privateKey = "" }) => privateKey.split("\n")[1] ?? "");
      for (const secret of [cluster.password, ...keyLines]) {
        assert.ok(secret.length > 10);
        assert.equal(state.includes(secret), false);
        assert.equal(words.includes(secret), false);
      }
    });

    it("adds a group and removes it", async function () {
      if (!ALL_TESTS) leaveOut(this, "only FORESAIL_TEST_ALL=1 adds and removes a group");
      await cluster.configure([...ONE_AND_ONE, { name: "x", replicas: 1 }], {
        endpoint: ENDPOINTS[generation],
      });
      await cluster.up();
      assert.deepEqual(await readyNodes(cluster), ["cp-1", "w-1", "x-1"]);
      await cluster.configure(ONE_AND_ONE, { endpoint: ENDPOINTS[generation] });
      await cluster.up();
      assert.deepEqual(await readyNodes(cluster), ["cp-1", "w-1"]);
      assert.equal((await cluster.contents()).machines?.length, 2);
    });

    it("adds two control planes and removes them one by one", async function () {
      if (!ALL_TESTS) leaveOut(this, "only FORESAIL_TEST_ALL=1 adds and removes control planes");
      const endpoint = ENDPOINTS[generation];
      const [planes, workers] = ONE_AND_ONE as [DesiredGroup, DesiredGroup];
      await cluster.configure([{ ...planes, replicas: 3 }, workers], { endpoint });
      await cluster.up();
      assert.deepEqual(await readyNodes(cluster), ["cp-1", "cp-2", "cp-3", "w-1"]);
      await cluster.configure(ONE_AND_ONE, { endpoint });
      const preview = await cluster.stack.previewed();
      const leaving = stepsOfKind(tumblebugPlanSteps, "remove", preview.steps["e2e-tumblebug-plan"]);
      assert.deepEqual(
        leaving.map(({ machine }) => machine),
        ["cp-3"],
      );
      await cluster.up();
      assert.deepEqual(await readyNodes(cluster), ["cp-1", "cp-2", "w-1"]);
      assert.equal(((await cluster.stack.outputs()).remaining as string[]).length, 1);
      await cluster.up();
      assert.deepEqual(await readyNodes(cluster), ["cp-1", "w-1"]);
      assert.deepEqual((await cluster.stack.outputs()).remaining, []);
      assert.equal((await cluster.contents()).machines?.length, 2);
      assert.deepEqual((await cluster.stack.previewed()).changes, []);
    });

    it("leaves nothing behind when it is destroyed", async () => {
      const { exitCode, words } = await cluster.stack.destroy();
      assert.equal(exitCode, 0, words);
      assert.deepEqual(await cluster.contents(), empty);
    });
  });
