import assert from "node:assert/strict";
import { readEndpoints } from "../../lib/kubernetes/kubeconfig";
import { countChanges } from "../../sandbox/engine-output";
import { CLOUD_NAMES } from "../../sandbox/openstack/seed";
import { OpenstackTestCluster } from "../cluster/openstack-test-cluster";
import { readyNodes } from "../cluster/reachability";
import { leaveOut } from "../left-out";
import { oneAfterTheOther } from "../one-after-the-other";
import { readExample } from "../support/example-file";

/** The flavors that the examples name; the sandbox's cloud has others. */
const FLAVORS = [
  { name: "m1.medium", vcpus: 2, ram: 4096, disk: 40 },
  { name: "m1.large", vcpus: 4, ram: 8192, disk: 80 },
];

/** That of the root volumes in the examples. */
const VOLUME_TYPE = "ssd";

type Fields = Record<string, unknown>;

interface Pool extends Fields {
  readonly name: string;
  readonly flavor: string;
  readonly replicas: number;
  readonly zones?: readonly string[];
}

interface Example {
  readonly cluster: Fields & { readonly name: string };
  readonly openstack: Fields & { readonly network: Fields; readonly pools: readonly Pool[] };
}

/**
 * What differs from a file: the entry of clouds.yaml, the image with its user, and the key; from where the machines are
 * reached, and their block; zones and strict anti-affinity, since the sandbox's cloud has one host; the pod network, because
 * charts and images can't be had offline, and with them the cloud provider; where Kubernetes comes from, and what containers
 * need as nodes.
 */
class ExampleCluster {
  private constructor(
    readonly example: Example,
    readonly cluster: OpenstackTestCluster,
  ) {}

  static async create(
    stack: string,
    services: { octavia?: boolean; cinder?: boolean } = {},
  ): Promise<ExampleCluster> {
    const example = readExample("openstack", stack) as unknown as Example;
    const cluster = await OpenstackTestCluster.create(example.cluster.name, services);
    const administrator = await cluster.cloud.api("administrator");
    for (const flavor of FLAVORS) await administrator.call("nova", "POST", "/flavors", { flavor });
    if (services.cinder)
      await administrator.call("cinder", "POST", "/types", { volume_type: { name: VOLUME_TYPE } });
    return new ExampleCluster(example, cluster);
  }

  /** @param workers changes of the file's pool "w" */
  async configure(workers: Partial<Pool> = {}): Promise<void> {
    const { cluster: sandbox, openstack } = this.cluster.sandboxConfiguration();
    const { cloud, keypair, cloudProvider, network, access } = openstack;
    const { pools } = this.example.openstack;
    await this.cluster.configureAs(
      { ...this.example.cluster, ...sandbox, name: this.example.cluster.name },
      {
        ...this.example.openstack,
        ...{ cloud, keypair, cloudProvider, access },
        network: { ...this.example.openstack.network, cidr: (network as Fields)["cidr"] },
        pools: pools.map((pool) => ({
          ...pool,
          ...(pool.name === "w" ? workers : {}),
          image: CLOUD_NAMES.image,
          zones: pool.zones ? [CLOUD_NAMES.zone] : [],
          antiAffinity: "soft",
        })),
      },
    );
  }

  /** The slots of the Nodes that are Ready. */
  async slots(): Promise<string[]> {
    return (await readyNodes(this.cluster)).map((name) => name.replace(/-[0-9a-z]{5}$/, ""));
  }

  /** Address at which the cloud's floating IPs are reached. */
  async floatingIps(): Promise<string[]> {
    const { floatingips } = (await this.cluster.api.call("neutron", "GET", "/v2.0/floatingips")) as {
      floatingips: { floating_ip_address: string }[];
    };
    return floatingips.map((each) => each.floating_ip_address).sort();
  }
}

/** Skips the suite unless all tests are requested. */
function onlyWithAll(): void {
  before(function () {
    if (process.env.FORESAIL_TEST_ALL !== "1")
      leaveOut(
        this,
        "openstack.test.ts creates and destroys such a cluster by default; FORESAIL_TEST_ALL=1 includes this one",
      );
  });
}

async function expectGone(cluster: OpenstackTestCluster, empty: object): Promise<void> {
  const { exitCode, words } = await cluster.stack.destroy();
  assert.equal(exitCode, 0, words);
  assert.deepEqual(await cluster.contents(), empty);
}

describe("the example dev-eu1 of OpenStack, as a file", function () {
  this.timeout(600_000);
  onlyWithAll();
  oneAfterTheOther();
  let made: ExampleCluster;
  let cluster: OpenstackTestCluster;
  let empty: Record<string, string[]>;

  before(async () => {
    made = await ExampleCluster.create("dev-eu1");
    ({ cluster } = made);
    empty = await cluster.contents();
  });

  after(() => cluster?.remove());

  it("comes up with a floating IP for each machine, and then has nothing to do", async () => {
    await made.configure();
    await cluster.up();
    assert.deepEqual(await made.slots(), ["cp-1", "w-1"]);
    assert.deepEqual(await made.floatingIps(), Object.values(await cluster.reachedAt()).sort());
    assert.deepEqual(Object.keys(countChanges(await cluster.up())), ["unchanged"]);
  });

  it("adds a second worker and removes it", async () => {
    for (const [replicas, expected] of [
      [2, ["cp-1", "w-1", "w-2"]],
      [1, ["cp-1", "w-1"]],
    ] as const) {
      await made.configure({ replicas });
      await cluster.up();
      assert.deepEqual(await made.slots(), expected);
      assert.equal((await cluster.servers()).length, expected.length);
    }
  });

  it("rolls its worker to another flavor", async () => {
    const before = await cluster.machineOf("w-1");
    await made.configure({ flavor: "m1.large" });
    await cluster.up();
    const after = await cluster.machineOf("w-1");
    assert.notEqual(after, before);
    assert.deepEqual(await readyNodes(cluster), [await cluster.machineOf("cp-1"), after]);
    assert.deepEqual(await cluster.remaining(), []);
  });

  it("leaves nothing in the cloud when it is destroyed", () => expectGone(cluster, empty));
});

describe("the example prod-eu1 of OpenStack, as a file", function () {
  this.timeout(1_200_000);
  onlyWithAll();
  oneAfterTheOther();
  let made: ExampleCluster;
  let cluster: OpenstackTestCluster;
  let empty: Record<string, string[]>;

  before(async () => {
    made = await ExampleCluster.create("prod-eu1", { octavia: true, cinder: true });
    ({ cluster } = made);
    empty = await cluster.contents();
  });

  after(() => cluster?.remove());

  it("comes up, its control planes behind the load balancer that its kubeconfig names", async () => {
    await made.configure();
    await cluster.up();
    const slots = made.example.openstack.pools.flatMap(({ name, replicas }) =>
      Array.from({ length: replicas }, (_, index) => `${name}-${index + 1}`),
    );
    assert.deepEqual(await made.slots(), slots.sort());
    const { external } = await cluster.endpoints();
    assert.ok((await made.floatingIps()).includes(external?.split(":")[0] ?? ""), external);
    const [first] = await readEndpoints({ kubeconfig: await cluster.stack.kubeconfig() });
    assert.equal(first?.server, `https://${external}`);
  });

  it("boots the machines of its data pool from their own volumes, labelled and tainted", async () => {
    const volumes = (await cluster.volumes()).map(({ size, volume_type }) => [size, volume_type]);
    assert.deepEqual(volumes, [
      [100, VOLUME_TYPE],
      [100, VOLUME_TYPE],
    ]);
    const nodes = await cluster.withApi((client) => client.listNodes("example.com/disk=large"));
    assert.deepEqual(
      nodes.map(({ metadata, spec }) => [
        metadata?.name?.slice(0, 5),
        (spec as { taints?: { key: string; effect: string }[] }).taints?.map(({ key, effect }) => [
          key,
          effect,
        ]),
      ]),
      ["data-", "data-"].map((name) => [name, [["example.com/data", "NoSchedule"]]]),
    );
  });

  it("has nothing to do for a second `up`", async () => {
    assert.deepEqual(Object.keys(countChanges(await cluster.up())), ["unchanged"]);
  });

  it("leaves nothing in the cloud when it is destroyed", () => expectGone(cluster, empty));
});
