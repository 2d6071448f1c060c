import assert from "node:assert/strict";
import { etcdAt } from "../cluster/etcd";
import { readyNodes } from "../cluster/reachability";
import { TestCluster } from "../cluster/test-cluster";
import { traces } from "../cluster/traces";
import { leaveOut } from "../left-out";
import { oneAfterTheOther } from "../one-after-the-other";

const [FIRST, SECOND, THIRD] = ["1.34.4", "1.35.4", "1.36.3"] as const;
const CONTROL_PLANES = ["cp-1", "cp-2", "cp-3"];
const AFTER_LOSS = ["cp-2", "cp-3", "cp-4"];
/** Written in the first month, and read in every later one. */
const NOTE_REF = { apiVersion: "v1", kind: "Secret", name: "note", namespace: "default" };

// for work on these tests: continues with the cluster of the last run, and keeps it
const KEEP = process.env.FORESAIL_TEST_KEEP === "1";

describe("a cluster one year later", function () {
  this.timeout(2_100_000);
  let cluster: TestCluster;

  before(async function () {
    if (process.env.FORESAIL_TEST_ALL !== "1" && !KEEP)
      leaveOut(this, "rollout.test.ts rolls one minor out by default; FORESAIL_TEST_ALL=1 includes this one");
    cluster = await TestCluster.open("year", { keep: KEEP, versions: [FIRST, SECOND, THIRD] });
  });

  oneAfterTheOther(KEEP);

  after(async () => {
    // absent when the suite is left out
    if (!KEEP) await (cluster as TestCluster | undefined)?.remove();
  });

  const configure = (version: string, machines: readonly string[], lost: readonly string[] = []) =>
    cluster.configure({
      machines,
      lost,
      pools: { "b-1": "batch" },
      fields: { version, source: { bundle: { path: "/opt/foresail/bundle/v{version}" } } },
    });

  /** Checks the nodes and their version, that nothing is left to do, and that the first month's data is there. */
  async function assertSettled(version: string, machines: readonly string[]): Promise<void> {
    assert.deepEqual((await cluster.preview()).changes, []);
    assert.deepEqual(await readyNodes(cluster), [...machines].sort());
    await cluster.withApi(async (client) => {
      const nodes = await client.listNodes();
      const versions = nodes.map(({ status }) => status?.nodeInfo?.kubeletVersion);
      assert.deepEqual([...new Set(versions)], [`v${version}`]);
      const note = await client.get<{ data?: Record<string, string> }>(NOTE_REF);
      assert.equal(Buffer.from(note?.data?.words ?? "", "base64").toString(), "of the first month");
    });
    const members = machines.filter((name) => name.startsWith("cp-"));
    const [asked = ""] = members;
    assert.deepEqual(await etcdAt(cluster, asked), { members, healthy: true });
  }

  async function change(version: string, machines: readonly string[], lost: readonly string[] = []) {
    await configure(version, machines, lost);
    await cluster.up();
    await assertSettled(version, machines);
  }

  const writeNote = () =>
    cluster.withApi((client) =>
      client.apply(
        {
          apiVersion: "v1",
          kind: "Secret",
          metadata: { name: "note", namespace: "default" },
          stringData: { words: "of the first month" },
        },
        { force: true },
      ),
    );

  it(`is created at ${FIRST} with three control planes and two pools`, async () => {
    const machines = [...CONTROL_PLANES, "w-1", "w-2", "b-1"];
    await configure(FIRST, machines);
    await cluster.up();
    await writeNote();
    await assertSettled(FIRST, machines);
  });

  it(`is upgraded to ${SECOND}`, () => change(SECOND, [...CONTROL_PLANES, "w-1", "w-2", "b-1"]));

  it("replaces a dead machine by a new one", async () => {
    await cluster.fleet.kill("w-2");
    await change(SECOND, [...CONTROL_PLANES, "w-1", "w-3", "b-1"], ["w-2"]);
  });

  it(`is upgraded to ${THIRD}`, () => change(THIRD, [...CONTROL_PLANES, "w-1", "w-3", "b-1"]));

  it("loses its second pool", async () => {
    await change(THIRD, [...CONTROL_PLANES, "w-1", "w-3"]);
    assert.deepEqual(await traces(cluster, "b-1"), []);
  });

  it("loses its first control plane and gets another one", async () => {
    await cluster.fleet.kill("cp-1");
    await change(THIRD, [...AFTER_LOSS, "w-1", "w-3"], ["cp-1"]);
  });

  it("is scaled up, with a machine of a former pool among the new ones, and down again", async () => {
    await change(THIRD, [...AFTER_LOSS, "w-1", "w-3", "w-4", "b-1"]);
    await change(THIRD, [...AFTER_LOSS, "w-1", "w-3"]);
  });

  it("leaves nothing on its machines when it is destroyed", async () => {
    await cluster.destroy();
    for (const machine of [...AFTER_LOSS, "w-1", "w-3", "w-4", "b-1"])
      assert.deepEqual(await traces(cluster, machine), [], machine);
  });

  it("is created again on the same machines", async () => {
    const machines = [...AFTER_LOSS, "w-1", "w-3"];
    await configure(THIRD, machines);
    await cluster.up();
    await writeNote();
    await assertSettled(THIRD, machines);
    await cluster.check(machines);
  });
});
