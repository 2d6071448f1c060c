import assert from "node:assert/strict";
import type { KubernetesObject } from "../../lib/kubernetes";
import { answerOf, makeBalanced, removeBalanced } from "../cluster/balanced-service";
import { CloudProviderFixture } from "../cluster/cloud-provider-fixture";
import type { OpenstackTestCluster, DesiredPool } from "../cluster/openstack-test-cluster";
import { readyNodes } from "../cluster/reachability";
import { makeServing } from "../cluster/serving-deployment";
import { leaveOut } from "../left-out";
import { oneAfterTheOther } from "../one-after-the-other";

const NAME = "cloud-provider";
const TAINT = "node.cloudprovider.kubernetes.io/uninitialized";

interface NodeObject extends KubernetesObject {
  readonly spec?: { readonly providerID?: string; readonly taints?: readonly { readonly key: string }[] };
  readonly status?: { readonly addresses?: readonly { readonly type: string; readonly address: string }[] };
}

describe("a cluster with OpenStack's own cloud controller manager", function () {
  this.timeout(900_000);
  let fixture: CloudProviderFixture;
  let cluster: OpenstackTestCluster;
  let empty: Record<string, string[]>;
  let credentials: string[];

  const pools = (workers = 2): DesiredPool[] => [
    { name: "cp", replicas: 1 },
    { name: "w", replicas: workers },
  ];

  before(async function () {
    if (process.env.FORESAIL_TEST_ALL !== "1")
      leaveOut(
        this,
        "by default it is tested on mocks (test/unit/components/openstack); FORESAIL_TEST_ALL=1 includes a cloud",
      );
    fixture = await CloudProviderFixture.create(NAME);
    cluster = fixture.cluster;
    empty = await cluster.contents();
    credentials = await fixture.applicationCredentials();
  });

  oneAfterTheOther();

  after(() => fixture?.remove());

  it("refuses volumes where the cloud has none, and creates nothing", async () => {
    await fixture.configure({ pools: pools() }, { cinder: {} });
    const { exitCode, words } = await cluster.stack.preview();
    assert.notEqual(exitCode, 0);
    assert.match(words, /openstack\.cloudProvider\.cinder[^]*no block-storage service \(Cinder\)/);
    assert.deepEqual(await cluster.contents(), empty);
  });

  it("stops when Keystone's response about a new application credential is lost", async () => {
    await fixture.configure({ pools: pools() });
    const faults = await cluster.cloud.faults();
    await faults.next(
      "keystone",
      { kind: "lost-reply" },
      { method: "POST", path: "/application_credentials" },
    );
    assert.match(await cluster.failingUp(), /ApplicationCredential \(cloud-provider-cloud-provider\)/);
    assert.equal((await fixture.applicationCredentials()).length, credentials.length + 1);
  });

  it("comes up with another credential, and the controller manager initializes the Nodes of the cloud's servers", async () => {
    const words = await cluster.up();
    assert.match(words, /delete the application credential \S+, which a run that was cut off made/);
    await initializedNodes();
  });

  it("sets every Node's server, addresses, zone and flavor", async () => {
    const nodes = await initializedNodes();
    const servers = await cluster.servers();
    assert.deepEqual(nodes.map(({ metadata }) => metadata?.name).sort(), names(servers));
    const known = await cluster.nodes();
    for (const { metadata, spec, status } of nodes) {
      const name = metadata?.name ?? "";
      const { id } = servers.find((server) => server.name === name) ?? {};
      assert.match(spec?.providerID ?? "", new RegExp(`^openstack://\\w*/${id}$`), name);
      const internal = status?.addresses?.filter(({ type }) => type === "InternalIP");
      assert.deepEqual(
        internal?.map(({ address }) => address),
        [known.find((node) => node.name === name)?.address],
      );
      assert.equal(metadata?.labels?.["topology.kubernetes.io/zone"], "nova");
      assert.equal(metadata?.labels?.["topology.kubernetes.io/region"], "RegionOne");
      assert.equal(metadata?.labels?.["node.kubernetes.io/instance-type"], "foresail.small");
    }
  });

  it("has its own application credential, whose secret is never in plain text in the state", async () => {
    const made = (await fixture.applicationCredentials()).filter((name) => !credentials.includes(name));
    assert.match(made.join(), new RegExp(`^foresail-${NAME}-[0-9a-f]+$`));
    const secret = await cluster.withApi((client) =>
      client.get<KubernetesObject & { data: Record<string, string> }>({
        apiVersion: "v1",
        kind: "Secret",
        namespace: "kube-system",
        name: "cloud-config",
      }),
    );
    const conf = Buffer.from(secret?.data["cloud.conf"] ?? "", "base64").toString();
    const value = /^application-credential-secret="(.+)"$/m.exec(conf)?.[1] ?? "";
    assert.ok(value.length > 16);
    assert.equal((await cluster.stack.export()).includes(value), false);
  });

  it("has nothing to do for a second `up`", async () => {
    assert.deepEqual((await cluster.stack.previewed()).changes, []);
    assert.match(await cluster.up(), /Resources:\n\s+\d+ unchanged\n/);
  });

  it("gives a Service a load balancer of the cloud that works, and removes it with the Service", async () => {
    const before = await balancers();
    const address = await cluster.withApi(async (client) => {
      await makeServing(client, { name: "served", replicas: 2 });
      return makeBalanced(client, "balanced", "served");
    });
    assert.equal((await balancers()).length, before.length + 1);
    assert.match(await answerOf(address), /^served-/);
    await cluster.withApi((client) => removeBalanced(client, "balanced"));
    assert.deepEqual(await balancers(), before);
  });

  it("removes a Node with its server when a pool shrinks", async () => {
    const going = await cluster.machineOf("w-2");
    await fixture.configure({ pools: pools(1) });
    await cluster.up();
    const left = names(await cluster.servers());
    assert.equal(left.includes(going), false);
    assert.deepEqual(await readyNodes(cluster), left);
  });

  it("replaces a machine: the cloud initializes the new Node, and the old one is gone", async () => {
    const old = await cluster.machineOf("w-1");
    await fixture.configure({ pools: pools(1), replace: { "w-1": 1 } });
    await cluster.up();
    assert.deepEqual(await cluster.remaining(), []);
    assert.notEqual(await cluster.machineOf("w-1"), old);
    const nodes = await initializedNodes();
    assert.deepEqual(nodes.map(({ metadata }) => metadata?.name).sort(), names(await cluster.servers()));
    assert.deepEqual((await cluster.stack.previewed()).changes, []);
  });

  it("installs the Cinder CSI driver once the cloud has volumes", async () => {
    await fixture.announceVolumes();
    await fixture.configure({ pools: pools(1), replace: { "w-1": 1 } }, { cinder: fixture.chart });
    await cluster.up();
    const found = await cluster.withApi((client) =>
      Promise.all(
        [
          ["apps/v1", "DaemonSet", "openstack-cinder-csi-nodeplugin"],
          ["apps/v1", "Deployment", "openstack-cinder-csi-controllerplugin"],
          ["storage.k8s.io/v1", "StorageClass", "csi-cinder-sc-delete"],
          ["storage.k8s.io/v1", "CSIDriver", "cinder.csi.openstack.org"],
        ].map(async ([apiVersion = "", kind = "", name = ""]) => {
          const namespace = apiVersion === "apps/v1" ? { namespace: "kube-system" } : {};
          return (await client.get({ apiVersion, kind, name, ...namespace }))?.metadata?.name;
        }),
      ),
    );
    assert.ok(
      found.every((name) => name !== undefined),
      found.join(", "),
    );
  });

  it("leaves nothing in the cloud when it is destroyed, not even the application credential", async () => {
    const { exitCode, words } = await cluster.stack.destroy();
    assert.equal(exitCode, 0, words);
    assert.deepEqual(await cluster.contents(), empty);
    assert.deepEqual(await fixture.applicationCredentials(), credentials);
  });

  /** Waits until the cloud's controller has initialized every Node. */
  async function initializedNodes(): Promise<NodeObject[]> {
    return cluster.withApi((client) =>
      client.watchUntil<NodeObject[], NodeObject>({
        what: "Nodes that the cloud controller manager has initialized",
        apiVersion: "v1",
        kind: "Node",
        seconds: 180,
        decide: (nodes) => {
          const waiting = nodes.filter(
            ({ spec }) => !spec?.providerID || spec.taints?.some(({ key }) => key === TAINT),
          );
          const pending = waiting.map(({ metadata }) => metadata?.name).join(", ");
          return nodes.length > 0 && waiting.length === 0 ? { done: nodes } : { pending };
        },
      }),
    );
  }

  async function balancers(): Promise<string[]> {
    const { loadbalancers } = (await cluster.api.call("octavia", "GET", "/v2/lbaas/loadbalancers")) as {
      loadbalancers: { name: string }[];
    };
    return names(loadbalancers);
  }
});

function names(objects: readonly { readonly name: string }[]): string[] {
  return objects.map(({ name }) => name).sort();
}
