import assert from "node:assert/strict";
import { userInfo } from "node:os";
import { countChanges } from "../../sandbox/engine-output";
import { containerNodeSettings } from "../../sandbox/nodes";
import { readyNodes } from "../cluster/reachability";
import { TumblebugTestCluster } from "../cluster/tumblebug-test-cluster";
import { leaveOut } from "../left-out";
import { oneAfterTheOther } from "../one-after-the-other";
import { readExample } from "../support/example-file";

const ALL_TESTS = process.env.FORESAIL_TEST_ALL === "1";

/** The nodes have Kubernetes and its images from the start: nothing is downloaded. */
const ON_CONTAINER_NODES = {
  source: { bundle: { path: "/opt/foresail/bundle/v{version}" } },
  ...containerNodeSettings,
};

type Fields = Record<string, unknown>;

interface Group extends Fields {
  name: string;
  replicas: number;
}

interface Example {
  cluster: Fields & { name: string };
  tumblebug: Fields & { namespace: string; groups: Group[] };
}

interface Outputs {
  vms: Record<string, { publicAddress: string; privateAddress: string }>;
  status: { phase: string };
}

interface LabelledNode {
  metadata?: { name?: string; labels?: Record<string, string> };
  status?: { addresses?: { type: string; address: string }[] };
}

/** Node → its region, zone and cloud, by its labels. */
async function placesOf(cluster: TumblebugTestCluster): Promise<Record<string, string[]>> {
  const nodes = await cluster.withApi((client) => client.listNodes() as Promise<LabelledNode[]>);
  const keys = ["kubernetes.io/region", "kubernetes.io/zone", "cloud-barista.github.io/csp"];
  return Object.fromEntries(
    nodes.map(({ metadata }) => [
      metadata?.name ?? "",
      keys.map((key) => metadata?.labels?.[`topology.${key}`] ?? ""),
    ]),
  );
}

/** Node → its InternalIP. */
async function addressesOf(cluster: TumblebugTestCluster): Promise<Record<string, string | undefined>> {
  const nodes = await cluster.withApi((client) => client.listNodes() as Promise<LabelledNode[]>);
  return Object.fromEntries(
    nodes.map(({ metadata, status }) => [
      metadata?.name ?? "",
      status?.addresses?.find(({ type }) => type === "InternalIP")?.address,
    ]),
  );
}

async function expectUnchanged(cluster: TumblebugTestCluster): Promise<void> {
  assert.deepEqual(Object.keys(countChanges(await cluster.up())), ["unchanged"]);
}

async function expectGone(cluster: TumblebugTestCluster, empty: object): Promise<void> {
  const { exitCode, words } = await cluster.stack.destroy();
  assert.equal(exitCode, 0, words);
  assert.deepEqual(await cluster.contents(), empty);
}

/**
 * What differs from the file: the server's address; the pod network, because Flannel's chart and image can't be had
 * offline and the nodes lie on one network; where Kubernetes comes from, and what containers need as nodes.
 */
describe("the example dev-seoul of CB-Tumblebug, as a file", function () {
  this.timeout(600_000);
  oneAfterTheOther();
  const example = readExample("tumblebug", "dev-seoul") as unknown as Example;
  let cluster: TumblebugTestCluster;
  let empty: Record<string, string[]>;

  const configure = (more: Fields = {}) =>
    cluster.configureAs(
      { ...example.cluster, ...ON_CONTAINER_NODES, network: { plugin: { bridge: {} } } },
      { ...example.tumblebug, ...more },
    );

  before(async () => {
    const { namespace } = example.tumblebug;
    const region = "ap-northeast-2";
    const seoul = { name: "aws-seoul", provider: "aws", region, zone: `${region}a` };
    cluster = await TumblebugTestCluster.create(example.cluster.name, "mcis", [seoul], { namespace });
    // the file uses an existing one
    await cluster.withServer((tumblebug) => tumblebug.namespaces.create({ name: namespace }));
    empty = await cluster.contents();
  });

  after(() => cluster?.remove());

  it("comes up in one `pulumi up`, labelled by region, zone and cloud, and a second one changes nothing", async () => {
    await configure();
    await cluster.up();
    const ref = ["ap-northeast-2", "ap-northeast-2a", "aws"];
    assert.deepEqual(await placesOf(cluster), { "cp-1": ref, "w-1": ref, "w-2": ref });
    assert.deepEqual(await readyNodes(cluster), ["cp-1", "w-1", "w-2"]);
    await expectUnchanged(cluster);
  });

  it("replaces a worker in one run", async function () {
    if (!ALL_TESTS) leaveOut(this, "only FORESAIL_TEST_ALL=1 replaces workers");
    await configure({ replace: { "w-1": 1 } });
    const { steps } = await cluster.stack.previewed();
    assert.deepEqual(steps["dev-machines"], [
      "w-1-r1: create its VM in aws-seoul (t3.large, ami-0123456789abcdef0)",
    ]);
    const inTurn = (steps["dev-w"] ?? []).filter((step) => !step.startsWith("cluster DNS"));
    assert.deepEqual(inTurn, [
      "w-1-r1: join as worker of w, wait until Ready",
      "w-1: cordon, drain, kubeadm reset, delete its Node",
    ]);
    await cluster.up();
    assert.deepEqual(await readyNodes(cluster), ["cp-1", "w-1-r1", "w-2"]);
    assert.deepEqual((await cluster.contents())["machines"], ["cp-1", "w-1-r1-1", "w-2-1"]);
    await expectUnchanged(cluster);
  });

  it("refuses to continue with a dead VM and says why, and replaces it on request", async function () {
    if (!ALL_TESTS) leaveOut(this, "only FORESAIL_TEST_ALL=1 stops a VM");
    const { namespace } = example.tumblebug;
    await cluster.server.vanish({ namespace, infrastructure: cluster.name, machine: "w-2-1" });
    await configure({ replace: { "w-1": 1 } });
    const refused = await cluster.stack.up();
    assert.notEqual(refused.exitCode, 0);
    assert.match(
      refused.words,
      /w-2: its VM w-2-1 is lost \(Undefined\).*raise its number in `tumblebug\.replace`, and list "w-2" under `tumblebug\.lost`/,
    );
    await configure({ replace: { "w-1": 1, "w-2": 1 }, lost: ["w-2"] });
    await cluster.up();
    assert.deepEqual(await readyNodes(cluster), ["cp-1", "w-1-r1", "w-2-r1"]);
    assert.deepEqual((await cluster.contents())["machines"], ["cp-1", "w-1-r1-1", "w-2-r1-1"]);
    await cluster.check();
    await expectUnchanged(cluster);
  });

  it("is destroyed and leaves nothing on the server", () => expectGone(cluster, empty));
});

/**
 * What differs from the file: the server's address; one worker in each cloud instead of three, which this machine
 * can't carry beside three control planes; the pod network, because Cilium's chart and images can't be had offline:
 * another by VXLAN, without encryption, takes its place; the blocks of public addresses, which are those of the
 * sandbox; where Kubernetes comes from, and what containers need as nodes.
 */
describe("the example prod-two-clouds of CB-Tumblebug, as a file", function () {
  this.timeout(900_000);
  oneAfterTheOther();
  const example = readExample("tumblebug", "prod-two-clouds") as unknown as Example;
  const publicBlocks = {
    "aws-ap-northeast-2": "198.18.0.0/16",
    "gcp-asia-northeast1": "198.19.0.0/16",
  };
  const counts: Record<string, number> = { cp: 3, aws: 1, gcp: 1 };
  let cluster: TumblebugTestCluster;
  let empty: Record<string, string[]>;

  before(async function () {
    if (!ALL_TESTS) leaveOut(this, "only FORESAIL_TEST_ALL=1 creates five nodes in two clouds");
    if (userInfo().uid !== 0) leaveOut(this, "only root can have this machine translate addresses");
    const { namespace } = example.tumblebug;
    const regions = [
      ["aws", "ap-northeast-2"],
      ["gcp", "asia-northeast1"],
    ] as const;
    cluster = await TumblebugTestCluster.create(example.cluster.name, "infra", regions, {
      ...{ namespace, publicBlocks },
    });
    empty = await cluster.contents();
  });

  after(() => cluster?.remove());

  it("comes up in one `pulumi up` on nodes that reach each other by translated addresses", async () => {
    const { groups, access, ...section } = example.tumblebug;
    assert.equal(section["nodeAddresses"], "public");
    await cluster.configureAs(
      {
        ...example.cluster,
        ...ON_CONTAINER_NODES,
        network: { plugin: { manifest: { path: "test/clouds/fixtures/vxlan-network.yaml" } } },
      },
      {
        ...section,
        groups: groups.map((group) => ({ ...group, replicas: counts[group.name] })),
        access: { ...(access as Fields), nodes: Object.values(publicBlocks) },
      },
    );
    await cluster.up();
    const seoul = ["ap-northeast-2", "ap-northeast-2a", "aws"];
    assert.deepEqual(await placesOf(cluster), {
      ...{ "cp-1": seoul, "cp-2": seoul, "cp-3": seoul, "aws-1": seoul },
      "gcp-1": ["asia-northeast1", "asia-northeast1a", "gcp"],
    });
    const { vms, status } = (await cluster.stack.outputs()) as unknown as Outputs;
    assert.equal(status.phase, "Provisioned");
    const addresses = await addressesOf(cluster);
    for (const [machine, { publicAddress, privateAddress }] of Object.entries(vms)) {
      assert.match(publicAddress, machine === "gcp-1" ? /^198\.19\./ : /^198\.18\./);
      assert.match(privateAddress, /^10\.77\./);
      assert.equal(addresses[machine], publicAddress);
    }
    const members = await cluster.withApi((client) => client.listPods({ labelSelector: "component=etcd" }));
    assert.equal(members.length, 3);
    const burst = await cluster.withApi((client) => client.listNodes("example.com/pool=burst"));
    assert.deepEqual(
      burst.map(({ metadata }) => metadata?.name),
      ["gcp-1"],
    );
  });

  it("runs pods that every node of both clouds reaches", () => cluster.check());

  it("changes nothing in a second up", () => expectUnchanged(cluster));

  it("is destroyed and leaves nothing on the server", () => expectGone(cluster, empty));
});
