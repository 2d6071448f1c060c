import assert from "node:assert/strict";
import { countChanges } from "../../sandbox/engine-output";
import { CLOUD_NAMES } from "../../sandbox/openstack/seed";
import { OpenstackTestCluster } from "../cluster/openstack-test-cluster";
import { readyNodes } from "../cluster/reachability";
import { leaveOut } from "../left-out";
import { readExample } from "../support/example-file";

/** The flavours that the examples name; the sandbox's cloud has others. */
const FLAVORS = [
  { name: "m1.medium", vcpus: 2, ram: 4096, disk: 40 },
  { name: "m1.large", vcpus: 4, ram: 8192, disk: 80 },
];

type Fields = Record<string, unknown>;

interface Pool extends Fields {
  readonly name: string;
  readonly flavor: string;
  readonly replicas: number;
}

interface Example {
  readonly cluster: Fields & { readonly name: string };
  readonly openstack: Fields & { readonly network: Fields; readonly pools: readonly Pool[] };
}

/**
 * What differs from the file: the entry of clouds.yaml, the image with its user, and the key; from where the machines are
 * reached, and their block; the pod network, because Flannel's chart and image can't be had offline; where Kubernetes comes
 * from, and what containers need as nodes; the cloud provider, which has no registry to come from.
 */
describe("the example dev-eu1 of OpenStack, as a file", function () {
  this.timeout(600_000);
  const example = readExample("openstack", "dev-eu1") as unknown as Example;
  let cluster: OpenstackTestCluster;
  let empty: Record<string, string[]>;
  let broken = false;

  /** @param workers what the file's pool of workers is to be otherwise */
  const configure = async (workers: Partial<Pool> = {}): Promise<void> => {
    const { cluster: sandbox, openstack } = cluster.sandboxConfiguration();
    const { cloud, keypair, cloudProvider, network, access } = openstack;
    const { pools } = example.openstack;
    await cluster.configureAs(
      { ...sandbox, ...example.cluster, ssh: sandbox["ssh"] },
      {
        ...example.openstack,
        ...{ cloud, keypair, cloudProvider, access },
        network: { ...example.openstack.network, cidr: (network as Fields)["cidr"] },
        pools: pools.map((pool) => ({
          ...pool,
          ...(pool.name === "w" ? workers : {}),
          image: CLOUD_NAMES.image,
        })),
      },
    );
  };
  const slots = async () => (await readyNodes(cluster)).map((name) => name.replace(/-[0-9a-z]{5}$/, ""));

  before(async function () {
    if (process.env.FORESAIL_TEST_ALL !== "1")
      leaveOut(this, "by day openstack.test.ts takes such a cluster up and down: FORESAIL_TEST_ALL=1");
    cluster = await OpenstackTestCluster.create(example.cluster.name);
    const administrator = await cluster.cloud.api("administrator");
    for (const flavor of FLAVORS) await administrator.call("nova", "POST", "/flavors", { flavor });
    empty = await cluster.contents();
  });

  beforeEach(function () {
    if (broken) leaveOut(this, "an earlier step failed, and each builds on those before it");
  });

  afterEach(function () {
    if (this.currentTest?.state === "failed") broken = true;
  });

  after(() => cluster?.remove());

  it("comes up, with a floating IP for each machine, and then has nothing to do", async () => {
    await configure();
    await cluster.up();
    assert.deepEqual(await slots(), ["cp-1", "w-1"]);
    const reached = Object.values(await cluster.reachedAt());
    const { floatingips } = (await cluster.api.call("neutron", "GET", "/v2.0/floatingips")) as {
      floatingips: { floating_ip_address: string }[];
    };
    assert.deepEqual(floatingips.map((each) => each.floating_ip_address).sort(), reached.sort());
    assert.deepEqual(Object.keys(countChanges(await cluster.up())), ["unchanged"]);
  });

  it("takes a second worker in, and lets it go", async () => {
    for (const [replicas, expected] of [
      [2, ["cp-1", "w-1", "w-2"]],
      [1, ["cp-1", "w-1"]],
    ] as const) {
      await configure({ replicas });
      await cluster.up();
      assert.deepEqual(await slots(), expected);
      assert.equal((await cluster.servers()).length, expected.length);
    }
  });

  it("rolls its worker to another flavour", async () => {
    const before = await cluster.machineOf("w-1");
    await configure({ flavor: "m1.large" });
    await cluster.up();
    const after = await cluster.machineOf("w-1");
    assert.notEqual(after, before);
    assert.deepEqual(await readyNodes(cluster), [await cluster.machineOf("cp-1"), after]);
    assert.deepEqual(await cluster.remaining(), []);
  });

  it("leaves nothing in the cloud when it is destroyed", async () => {
    const { exitCode, words } = await cluster.stack.destroy();
    assert.equal(exitCode, 0, words);
    assert.deepEqual(await cluster.contents(), empty);
  });
});
