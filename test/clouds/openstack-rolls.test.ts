import assert from "node:assert/strict";
import { CLOUD_NAMES } from "../../sandbox/openstack/seed";
import { departures, outlivedServers, recordHistory, type Sample } from "../cluster/cluster-history";
import { etcdAt } from "../cluster/etcd";
import { OpenstackTestCluster, type DesiredOpenstack } from "../cluster/openstack-test-cluster";
import { readyNodes } from "../cluster/reachability";
import { leaveOut } from "../left-out";

const NAME = "e2e-openstack";
const OCTAVIA = { octavia: { floatingIp: false } };
/** What one run did. */
interface Run {
  readonly gone: readonly string[];
  readonly history: readonly Sample[];
}

describe("three control planes and a pool with a surge of two on an OpenStack cloud", function () {
  this.timeout(1_800_000);
  let cluster: OpenstackTestCluster;
  let empty: Record<string, string[]>;
  let runs: Run[];

  const desired = (flavor: string): DesiredOpenstack => ({
    endpoint: OCTAVIA,
    pools: [
      { name: "cp", replicas: 3, flavor },
      { name: "w", replicas: 2, flavor, replacementsPerRun: 2, zones: ["nova"] },
    ],
  });

  before(async function () {
    if (process.env.FORESAIL_TEST_ALL !== "1")
      leaveOut(
        this,
        "by default the runs are tested on mocks (test/unit/providers/openstack); FORESAIL_TEST_ALL=1 includes a cloud",
      );
    cluster = await OpenstackTestCluster.create(NAME, { octavia: true });
    empty = await cluster.contents();
  });

  after(() => cluster?.remove());

  it("comes up with its workers in their zone", async () => {
    await cluster.configure(desired(CLOUD_NAMES.flavor));
    await cluster.up();
    assert.equal((await readyNodes(cluster)).length, 5);
    const zones = (await cluster.servers()).map((server) => server["OS-EXT-AZ:availability_zone"]);
    assert.deepEqual([...new Set(zones)], ["nova"]);
    assert.equal((await etcdMembers()).length, 3);
  });

  it("refuses a zone that the cloud does not have, and another network", async () => {
    const { pools } = desired(CLOUD_NAMES.flavor);
    const elsewhere = pools.map((pool) => ({ ...pool, ...(pool.zones ? { zones: ["mars"] } : {}) }));
    await cluster.configure({ endpoint: OCTAVIA, pools: elsewhere });
    assert.match(
      (await cluster.stack.preview()).words,
      /openstack\.pools\.w\.zones[^]*no availability zone "mars"; it has /,
    );
    await cluster.configure({ ...desired(CLOUD_NAMES.flavor), cidr: "172.30.32.0/24" });
    const { exitCode, words } = await cluster.stack.preview();
    assert.notEqual(exitCode, 0);
    assert.match(
      words,
      /openstack\.network[^]*the built-in pod network leads to machines of one network alone/,
    );
    assert.match(words, /Octavia's load balancer has its address in /);
  });

  it("rolls to another flavor: control planes one at a time with their etcd members, then both workers at once", async () => {
    await cluster.configure(desired(CLOUD_NAMES.largerFlavor));
    runs = [];
    for (let left: unknown[] = ["all"]; left.length > 0;) {
      assert.ok(runs.length < 8, `${runs.length} runs, and ${JSON.stringify(left)} is left`);
      const history = await recordHistory(cluster, cluster.up());
      const gone = departures(history.map(({ nodes }) => nodes));
      assert.deepEqual(outlivedServers(history), []);
      const members = await etcdMembers();
      const controlPlanes = (await readyNodes(cluster)).filter((name) => name.startsWith("cp-"));
      assert.deepEqual(members, controlPlanes);
      runs.push({ gone, history });
      left = (await cluster.remaining()) as unknown[];
    }
    assert.deepEqual(
      runs.map(({ gone }) => gone.map((name) => name.slice(0, 4)).sort()),
      [["cp-1"], ["cp-2"], ["cp-3"], ["w-1-", "w-2-"]],
    );
  });

  it("had three serving control planes and the desired number of workers at every moment", () => {
    for (const { serving } of runs.flatMap(({ history }) => history)) {
      const of = (pool: string) => serving.filter((name) => name.startsWith(`${pool}-`)).length;
      assert.ok(of("cp") >= 3 && of("w") >= 2, serving.join(", "));
    }
  });

  it("leaves nothing behind when it is destroyed", async () => {
    const { exitCode, words } = await cluster.stack.destroy();
    assert.equal(exitCode, 0, words);
    assert.deepEqual(await cluster.contents(), empty);
  });

  /** The names of etcd's members, as a control plane reports them, sorted. */
  async function etcdMembers(): Promise<string[]> {
    const [name = ""] = (await readyNodes(cluster)).filter((node) => node.startsWith("cp-"));
    return (await etcdAt(cluster, name)).members;
  }
});
