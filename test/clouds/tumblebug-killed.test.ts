import assert from "node:assert/strict";
import { readyNodes } from "../cluster/reachability";
import { TumblebugTestCluster } from "../cluster/tumblebug-test-cluster";
import { upKilledWhen } from "../engine/killed-up";
import { leaveOut } from "../left-out";

const LONGEST_UP_SECONDS = 600;
const ALL_TESTS = process.env.FORESAIL_TEST_ALL === "1";
const REGIONS = [
  ["aws", "ap-northeast-2"],
  ["gcp", "asia-northeast1"],
  ["azure", "koreacentral"],
] as const;

/** The objects of the server that an `up` has created so far. */
function createdObjects(output: string): string[] {
  return [...output.matchAll(/^ *\+ +\S*foresail:(Tumblebug\S+) (\S+) created/gm)].map(
    ([, type = "", name = ""]) => `${type} ${name}`,
  );
}

describe("an up on three connections of CB-Tumblebug that is killed", function () {
  this.timeout(7_200_000);
  let cluster: TumblebugTestCluster | undefined;

  after(() => cluster?.remove());

  it("continues with the next run after each object in turn, creates nothing twice, and leaves nothing behind", async function () {
    if (!ALL_TESTS) leaveOut(this, "only FORESAIL_TEST_ALL=1 kills runs after each object");
    cluster = await TumblebugTestCluster.create("e2e-tumblebug", "infra", REGIONS);
    const empty = await cluster.contents();
    await cluster.configure([
      { name: "cp", replicas: 3 },
      { name: "w2", replicas: 1, connection: 1 },
      { name: "w3", replicas: 1, connection: 2 },
    ]);
    const met: string[] = [];
    for (;;) {
      const look = (output: () => string) =>
        createdObjects(output())
          .filter((point) => !met.includes(point))
          .map((point) => ({ point }))[0];
      const up = await upKilledWhen(cluster.stack, "the whole tree", look, LONGEST_UP_SECONDS);
      if (up.killed === undefined) {
        assert.equal(up.exitCode, 0, up.output);
        break;
      }
      met.push(up.killed.point);
      assert.match((await cluster.stack.clearDeadLocks())[0] ?? "", /^cleared the lock/);
    }
    console.log(`      killed ${met.length} times: ${met.join(", ")}`);
    assert.ok(met.length > 0);
    assert.deepEqual(await readyNodes(cluster), ["cp-1", "cp-2", "cp-3", "w2-1", "w3-1"]);
    const contents = await cluster.contents();
    assert.equal(contents.machines?.length, 5);
    assert.equal(contents.containers?.length, 5);
    for (const [what, names] of Object.entries(contents)) assert.deepEqual(names, [...new Set(names)], what);
    assert.deepEqual((await cluster.stack.previewed()).changes, []);
    const { exitCode, words } = await cluster.stack.destroy();
    assert.equal(exitCode, 0, words);
    assert.deepEqual(await cluster.contents(), empty);
  });
});
