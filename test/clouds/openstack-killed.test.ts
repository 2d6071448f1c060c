import assert from "node:assert/strict";
import { OpenstackTestCluster } from "../cluster/openstack-test-cluster";
import { readyNodes } from "../cluster/reachability";
import { leaveOut } from "../left-out";
import { upKilledWhen } from "../engine/killed-up";

const NAME = "e2e-openstack";
const LONGEST_UP_SECONDS = 400;
const LEFTOVER = /which a run that was cut off made and did not record/;
/** There are more objects than these of the load balancer alone. */
const FEWEST_KILLS = 20;
const ALL_TESTS = process.env.FORESAIL_TEST_ALL === "1";

/** Where an `up` is killed: an object of the cloud has just been created. */
interface CreatedObject {
  readonly type: string;
  readonly name: string;
}

function createdObjects(output: string): CreatedObject[] {
  return [...output.matchAll(/^ *\+ +(openstack:\S+) (\S+) created/gm)].map(([, type = "", name = ""]) => ({
    type,
    name,
  }));
}

describe("an up on an OpenStack cloud that is killed", function () {
  this.timeout(1_800_000);
  let cluster: OpenstackTestCluster;
  let empty: Record<string, string[]>;

  before(async function () {
    if (!ALL_TESTS)
      leaveOut(
        this,
        "by default an `up` is killed once, in openstack-faults.test.ts; FORESAIL_TEST_ALL=1 includes all kills",
      );
    cluster = await OpenstackTestCluster.create(NAME, { octavia: true });
    empty = await cluster.contents();
    await cluster.configure({
      endpoint: { octavia: { floatingIp: true } },
      pools: [
        { name: "cp", replicas: 1 },
        { name: "w", replicas: 1, floatingIp: true },
      ],
    });
  });

  after(() => cluster?.remove());

  it("continues with the next run after each object in turn, and reports what it cleans up", async () => {
    const met: string[] = [];
    let cleared = 0;
    for (;;) {
      const look = (output: () => string) =>
        createdObjects(output())
          .map(({ type, name }) => `${type} ${name}`)
          .filter((point) => !met.includes(point))
          .map((point) => ({ point }))[0];
      const up = await upKilledWhen(cluster.stack, "the whole tree", look, LONGEST_UP_SECONDS);
      if (LEFTOVER.test(up.output)) cleared++;
      if (up.killed === undefined) {
        assert.equal(up.exitCode, 0, up.output);
        break;
      }
      met.push(up.killed.point);
      assert.match((await cluster.stack.clearDeadLocks())[0] ?? "", /^cleared the lock/);
    }
    console.log(`      killed ${met.length} times; ${cleared} runs cleared away what was not on record`);
    assert.ok(met.length >= FEWEST_KILLS, met.join(", "));
    assert.ok(cleared > 0);
  });

  it("ends with the desired cluster and with no object twice", async () => {
    const nodes = (await cluster.nodes()).map(({ name }) => name).sort();
    assert.equal(nodes.length, 2);
    assert.deepEqual(await readyNodes(cluster), nodes);
    for (const [what, names] of Object.entries(await cluster.contents())) {
      const named = names.filter((name) => name !== "");
      assert.deepEqual(named, [...new Set(named)], what);
    }
    assert.deepEqual((await cluster.stack.previewed()).changes, []);
  });

  it("leaves nothing behind when it is destroyed", async () => {
    const { exitCode, words } = await cluster.stack.destroy();
    assert.equal(exitCode, 0, words);
    assert.deepEqual(await cluster.contents(), empty);
  });
});
