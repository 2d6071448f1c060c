import assert from "node:assert/strict";
import type { StateResources } from "../../../../lib/pulumi/state";
import { KEY, MockedCluster, pool, promised } from "../../components/openstack/mocked-cluster";

/** Returns a state with other outputs of each server. */
function changed(state: StateResources, outputs: object): StateResources {
  const entries = Object.entries(state).map(([urn, resource]) =>
    resource.type === "openstack:compute/instance:Instance"
      ? [urn, { ...resource, outputs: { ...resource.outputs, ...outputs } }]
      : [urn, resource],
  );
  return Object.fromEntries(entries) as StateResources;
}

describe("OpenstackCluster on machines that exist", () => {
  const cluster = new MockedCluster();

  before(function () {
    this.timeout(60_000);
    return cluster.start();
  });

  beforeEach(() => cluster.forget());

  it("changes no server for another key or other user data", async () => {
    await cluster.make();
    const before = cluster.names("Instance");
    const keys = cluster.names("Keypair");
    const existing = cluster.stateOf();
    cluster.forget();
    const other = KEY.replace("AgMEBQY", "AgMEBQZ");
    assert.notEqual(other, KEY);
    await cluster.make({ keypair: { publicKey: other }, userData: "#cloud-config\n", existing });
    assert.deepEqual(cluster.names("Instance"), before);
    assert.notDeepEqual(cluster.names("Keypair"), keys);
  });

  it("replaces one worker per run for another flavor, and says what is left", async () => {
    await cluster.make();
    const before = cluster.names("Instance");
    const existing = cluster.stateOf();
    cluster.forget();
    const pools = [pool("cp"), pool("w", { replicas: 2, flavor: "m2" })];
    const { remaining } = await cluster.make({ pools, existing });
    const now = cluster.names("Instance");
    assert.equal(now.length, 3);
    assert.deepEqual(now[0], before[0]);
    assert.notEqual(now[1], before[1]);
    assert.equal(now[2], before[2]);
    assert.deepEqual(cluster.only("CloudPlan").inputs.leaving, [before[1]!.replace("demo-", "")]);
    const lines = await promised(remaining);
    assert.equal(lines.length, 1);
    assert.match(lines[0]!, /^then, in the next run: w-2: .* \(flavor m1 → m2\)$/);
  });

  it("keeps a single control plane until its successor has joined", async () => {
    await cluster.make();
    const before = cluster.names("Instance");
    const existing = cluster.stateOf();
    cluster.forget();
    await cluster.make({ pools: [pool("cp", { image: "debian-13" }), pool("w", { replicas: 2 })], existing });
    assert.equal(cluster.names("Instance").length, 4);
    assert.equal(cluster.names("Instance")[0], before[0]);
    assert.deepEqual(cluster.only("CloudPlan").inputs.leaving, []);
  });

  it("reaches the desired machines run by run: control planes one at a time, up to replacementsPerRun workers, in their zones", async () => {
    const pools = (flavor: string) => [
      pool("cp", { replicas: 3, flavor }),
      pool("w", { replicas: 3, flavor, replacementsPerRun: 2, zones: ["a", "b"] }),
    ];
    await cluster.make({ pools: pools("m1") });
    const runs: string[] = [];
    for (let left = true; left;) {
      const before = cluster.names("Instance");
      const existing = cluster.stateOf();
      cluster.forget();
      const { remaining } = await cluster.make({ pools: pools("m2"), existing });
      const made = cluster.names("Instance").filter((name) => !before.includes(name));
      runs.push(made.map((name) => name.replace(/^demo-(.*)-\w{5}$/, "$1")).join(" "));
      assert.equal((cluster.only("CloudPlan").inputs.leaving as string[]).length, made.length);
      left = (await promised(remaining)).length > 0;
    }
    assert.deepEqual(runs, ["cp-1", "cp-2", "cp-3", "w-1 w-2", "w-3"]);
    assert.deepEqual(
      cluster.of("Instance").map(({ inputs }) => inputs.availabilityZone),
      [undefined, undefined, undefined, "a", "b", "a"],
    );
  });

  it("moves the machines to another network run by run, keeping both until the last has moved", async () => {
    const pools = [pool("cp", { replicas: 3 })];
    const network = (cidr: string) => ({ cidr, dnsNameservers: [], externalNetwork: "public" });
    await cluster.make({ pools });
    const networks: string[][] = [];
    for (let left = true; left;) {
      const existing = cluster.stateOf();
      cluster.forget();
      const { remaining } = await cluster.make({ pools, network: network("10.30.0.0/24"), existing });
      networks.push(cluster.of("Subnet").map(({ inputs }) => String(inputs.cidr)));
      assert.equal(cluster.only("CloudPlan").inputs.refusals, undefined);
      assert.match(
        (cluster.only("CloudPlan").inputs.steps as string[]).join(),
        /network 10\.20\.0\.0\/24 → 10\.30\.0\.0\/24/,
      );
      left = (await promised(remaining)).length > 0;
    }
    assert.deepEqual(networks, [
      ["10.30.0.0/24", "10.20.0.0/24"],
      ["10.30.0.0/24", "10.20.0.0/24"],
      ["10.30.0.0/24"],
    ]);
  });

  it("refuses another network where pods or the load balancer's address would be lost", async () => {
    const bridge = { version: "1.36.3", network: { plugin: { bridge: {} } }, ssh: { privateKey: "KEY" } };
    const other = { cidr: "10.30.0.0/24", dnsNameservers: [], externalNetwork: "public" };
    const endpoint = { octavia: { floatingIp: false } };
    await cluster.make({ cluster: bridge, endpoint });
    const balancer = {
      "urn:pulumi:test::foresail::x::demo-api": {
        type: "openstack:loadbalancer/loadBalancer:LoadBalancer",
        outputs: { vipSubnetId: "subnet-id" },
      },
      "urn:pulumi:test::foresail::x::demo-10.20.0.0-24": {
        type: "openstack:networking/subnet:Subnet",
        outputs: { id: "subnet-id", cidr: "10.20.0.0/24" },
      },
    };
    const existing = { ...cluster.stateOf(), ...balancer };
    for (const network of [undefined, other]) {
      cluster.forget();
      await cluster.make({ cluster: bridge, endpoint, existing, ...(network ? { network } : {}) });
      const { refusals } = cluster.only("CloudPlan").inputs as { refusals?: { reason: string }[] };
      assert.deepEqual(
        refusals?.map(({ reason }) => reason.replace(/;.*/, "")),
        network && [
          "the built-in pod network leads to machines of one network alone, and this cluster's lie in 10.20.0.0/24",
          "Octavia's load balancer has its address in 10.20.0.0/24, and every certificate and kubelet of this cluster holds that address",
        ],
      );
    }
  });

  it("keeps the load balancer's blocks in the order in which the cloud returned them", async () => {
    const endpoint = { octavia: { floatingIp: false } };
    const access = (...api: string[]) => ({ ssh: [], api, nodePorts: [] });
    const blocks = async (api: string[], answered: string[]) => {
      cluster.forget();
      const listener = {
        type: "openstack:loadbalancer/listener:Listener",
        outputs: { allowedCidrs: answered },
      };
      const existing = { "urn:pulumi:test::foresail::x::demo-api": listener };
      await cluster.make({ endpoint, access: access(...api), existing });
      return cluster.only("Listener").inputs.allowedCidrs;
    };
    const network = "10.20.0.0/24";
    assert.deepEqual(await blocks(["192.0.2.7/32", "192.0.2.1/32"], []), [
      network,
      "192.0.2.1/32",
      "192.0.2.7/32",
    ]);
    const answered = ["192.0.2.7/32", network, "192.0.2.1/32"];
    assert.deepEqual(await blocks(["192.0.2.1/32", "192.0.2.7/32"], answered), answered);
    assert.deepEqual(await blocks(["192.0.2.1/32"], answered), [network, "192.0.2.1/32"]);
  });

  it("keeps a machine whose server someone renamed", async () => {
    await cluster.make();
    const before = cluster.names("Instance");
    const existing = changed(cluster.stateOf(), { name: "renamed-by-hand" });
    cluster.forget();
    await cluster.make({ existing });
    assert.deepEqual(cluster.names("Instance"), before);
    assert.deepEqual(cluster.only("CloudPlan").inputs.steps, []);
  });

  it("keeps the machines when an image or flavor is written by its id, and replaces them for another one", async () => {
    const by = (image: string, flavor: string) => [
      pool("cp", { image, flavor }),
      pool("w", { replicas: 2, image, flavor }),
    ];
    await cluster.make();
    const before = cluster.names("Instance");
    const existing = changed(cluster.stateOf(), {
      ...{ imageId: "image-id", imageName: "debian", flavorId: "flavor-id", flavorName: "m1" },
    });
    const named = async (image: string, flavor: string) => {
      cluster.forget();
      await cluster.make({ existing, pools: by(image, flavor) });
      return cluster.names("Instance");
    };
    assert.deepEqual(await named("image-id", "flavor-id"), before);
    assert.deepEqual(await named("debian", "flavor-id"), before);
    assert.notDeepEqual(await named("other-id", "flavor-id"), before);
  });

  it("refuses to go on with a server that no longer says which machine it is", async () => {
    await cluster.make();
    const existing = changed(cluster.stateOf(), { metadata: { "foresail-cluster": "demo" } });
    cluster.forget();
    await cluster.make({ existing });
    const refusals = cluster.only("CloudPlan").inputs.refusals as { reason: string }[];
    assert.match(
      refusals[0]!.reason,
      /^the metadata of the server of cp-1-\w+ was changed .*with foresail-slot=cp-1/,
    );
  });

  it("creates another machine for a server that someone deleted, and removes the old one from the cluster", async () => {
    await cluster.make();
    const lost = cluster.names("Instance")[2]!;
    const existing = Object.fromEntries(
      Object.entries(cluster.stateOf()).filter(([urn]) => !urn.endsWith(`::${lost}`)),
    );
    cluster.forget();
    await cluster.make({ existing });
    assert.equal(cluster.names("Instance").length, 3);
    assert.ok(!cluster.names("Instance").includes(lost));
    assert.deepEqual(cluster.of("NodeGroup")[0]!.inputs.lost, [lost.replace("demo-", "")]);
  });
});
