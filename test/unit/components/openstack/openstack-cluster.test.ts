import assert from "node:assert/strict";
import * as pulumi from "@pulumi/pulumi";
import { readEndpoints } from "../../../../lib/kubernetes/kubeconfig";
import { MockedCluster, pool, promised } from "./mocked-cluster";

describe("OpenstackCluster", () => {
  const cluster = new MockedCluster();

  before(function () {
    this.timeout(60_000);
    return cluster.start();
  });

  beforeEach(() => cluster.forget());

  it("creates a network, groups, a key, and one port and one server per machine", async () => {
    await cluster.make();
    for (const type of ["Network", "Subnet", "Router", "RouterInterface", "Keypair", "CloudPlan"])
      assert.equal(cluster.of(type).length, 1, type);
    assert.deepEqual(
      cluster.registered.filter(({ type }) => type === "pulumi:providers:openstack").map(({ name }) => name),
      ["demo"],
    );
    assert.deepEqual(
      cluster.names("Instance").map((name) => name.replace(/-[0-9a-z]{5}$/, "")),
      ["demo-cp-1", "demo-w-1", "demo-w-2"],
    );
    assert.deepEqual(cluster.names("Port"), cluster.names("Instance"));
    assert.deepEqual(cluster.names("ServerGroup"), ["demo-cp-soft", "demo-w-soft"]);
    assert.deepEqual(cluster.names("FloatingIp"), []);
    assert.equal(cluster.only("InitializedMark").name, "demo-initialized");
    assert.equal(cluster.only("Router").inputs.externalNetworkId, "external-id");
  });

  it("registers what reads a resource that --target leaves out, without its values", async () => {
    await cluster.make({ leftOut: ["CloudPlan", "Port"] });
    assert.equal(cluster.only("Router").inputs.externalNetworkId, undefined);
    // the owner tag is an output of the CloudPlan
    const inCloud = cluster.registered.filter(({ type }) => type.startsWith("openstack:"));
    assert.ok(inCloud.length > 10);
    for (const { type, inputs } of inCloud)
      assert.ok(!JSON.stringify(inputs).includes("undefined"), `${type} ${JSON.stringify(inputs)}`);
    const servers = cluster.of("Instance");
    assert.equal(servers.length, 3);
    for (const { inputs } of servers) {
      assert.ok(inputs.name);
      assert.deepEqual([inputs.imageId, inputs.flavorId], [undefined, undefined]);
    }
  });

  it("refuses what a stack's configuration refuses, before it makes anything", async () => {
    const rows: [object, RegExp][] = [
      [{ keypair: { publicKey: "ssh-rsa x\nfoo" } }, /keypair\.publicKey: /],
      [{ userData: "-----BEGIN RSA PRIVATE KEY-----" }, /userData: contains a private key/],
      [{ cluster: { version: "1.36.3\nx" } }, /cluster\.version: /],
      [
        { cluster: { version: "1.36.3", files: [{ path: "/a/../b", content: "" }] } },
        /cluster\.files\[0\]\.path: /,
      ],
    ];
    for (const [over, words] of rows) {
      cluster.forget();
      await assert.rejects(async () => cluster.make(over), words);
      assert.equal(cluster.of("Router").length, 0);
    }
  });

  it("takes the SSH key of machines under its old name", async () => {
    await cluster.make();
    const { name, inputs } = cluster.only("Keypair");
    cluster.forget();
    await cluster.make({ keypair: undefined, ...{ publicKey: inputs.publicKey as string } });
    assert.deepEqual([cluster.only("Keypair").name, cluster.only("Keypair").inputs], [name, inputs]);
  });

  it("keeps no credential in the provider's inputs", async () => {
    await cluster.make();
    const provider = cluster.registered.find(({ type }) => type === "pulumi:providers:openstack")!;
    const given = Object.entries(provider.inputs).filter(([, value]) => value !== undefined);
    const { cloud: entry, maxRetries } = Object.fromEntries(given);
    assert.deepEqual([entry, maxRetries], ["eu1", "10"]);
    assert.deepEqual(
      given.map(([key]) => key).filter((key) => /password|secret|token|credential/i.test(key)),
      [],
    );
  });

  it("uses the provider that it is given for everything in the cloud, and compares its cloud in the preview", async () => {
    const { Provider } = await import("@pulumi/openstack");
    const given = new Provider("mine", { cloud: "eu2" });
    await cluster.make({ providers: [given] });
    const inCloud = cluster.registered.filter(({ type }) => type.startsWith("openstack:"));
    assert.ok(inCloud.length > 6);
    for (const { name, options } of inCloud) assert.equal(options.provider, given, name);
    assert.equal(cluster.of("openstack").length, 0);
    const { givenProvider } = cluster.only("CloudPlan").inputs as { givenProvider: { cloud: string } };
    assert.equal(givenProvider.cloud, "eu2");
  });

  it("opens nothing to everyone, and describes the purpose of each rule", async () => {
    await cluster.make();
    const rules = cluster.of("SecGroupRule").map(({ inputs }) => inputs);
    assert.ok(rules.length > 6);
    for (const rule of rules) {
      assert.notEqual(rule.remoteIpPrefix, "0.0.0.0/0");
      assert.ok(rule.remoteIpPrefix ?? rule.remoteGroupId, JSON.stringify(rule));
      assert.ok(rule.description);
    }
  });

  it("deletes rules with their groups, since the provider needs 5 s for each", async () => {
    await cluster.make();
    for (const { name, options } of cluster.of("SecGroupRule")) {
      const [group] = /^demo-(nodes|control-planes)/.exec(name) ?? [];
      const urn = await promised((options.deletedWith as pulumi.Resource).urn);
      assert.equal(urn.split("::").at(-1), group, name);
    }
  });

  it("names servers as machines and Nodes are named, and never lets the provider replace one", async () => {
    await cluster.make();
    for (const { name, inputs, options } of cluster.of("Instance")) {
      assert.equal(`demo-${inputs.name as string}`, name);
      for (const property of ["keyPair", "userData", "imageId", "flavorId", "networks", "availabilityZone"])
        assert.ok(options.ignoreChanges?.includes(property), property);
    }
    assert.deepEqual(
      cluster.of("Command").map(({ name }) => name),
      cluster.names("Instance").map((name) => `${name}-prepare`),
    );
  });

  it("gives floating IPs to pools that ask for them, and uses them for SSH and the API", async () => {
    await cluster.make({ pools: [pool("cp", { floatingIp: true }), pool("w")] });
    assert.equal(cluster.of("FloatingIp").length, 1);
    const [machine] = cluster.only("ClusterInit").inputs.machines as {
      address: string;
      internalAddress: string;
    }[];
    assert.match(machine!.address, /^192\.0\.2\./);
    assert.match(machine!.internalAddress, /^10\.20\.0\./);
  });

  it("holds the version rollout of servers that later runs replace, and of no other", async () => {
    const pools = (image: string) => [pool("cp"), pool("w", { replicas: 2, image })];
    const cluster136 = { network: { plugin: { flannel: {} } }, ssh: { privateKey: "KEY" } };
    const leavingLater = async (image: string, version: string, existing = {}) => {
      cluster.forget();
      const made = await cluster.make({
        pools: pools(image),
        cluster: { ...cluster136, version },
        existing,
      });
      return [cluster.only("NodeRollout").inputs.leavingLater, (await promised(made.remaining)).length];
    };
    assert.deepEqual(await leavingLater("debian", "1.35.4"), [undefined, 0]);
    const [, , second = ""] = cluster.names("Instance").map((name) => name.replace(/^demo-/, ""));
    assert.deepEqual(await leavingLater("debian-13", "1.36.3", cluster.stateOf()), [[second], 1]);
    assert.deepEqual(await leavingLater("debian-13", "1.36.3", cluster.stateOf()), [undefined, 0]);
  });

  it("tags servers as initialized after their agents, and waits for no rollout", async () => {
    await cluster.make();
    const after = [cluster.only("InitializedMark").options.dependsOn].flat() as pulumi.Resource[];
    const urns = await Promise.all(after.map(({ urn }) => promised(urn)));
    assert.deepEqual(
      urns.map((urn) => urn.split("::").at(-1)),
      ["demo-node-agents"],
    );
  });

  it("creates no network where one exists", async () => {
    await cluster.make({ network: { id: "net-1", cidr: "10.20.0.0/24" } });
    for (const type of ["Network", "Subnet", "Router", "RouterInterface"])
      assert.deepEqual(cluster.names(type), []);
    assert.deepEqual(
      cluster.of("Port").map(({ inputs }) => inputs.networkId),
      ["net-1", "net-1", "net-1"],
    );
  });

  it("puts Octavia's load balancer in front of all control planes", async () => {
    const { endpoints } = await cluster.make({
      pools: [pool("cp", { replicas: 3 }), pool("w")],
      endpoint: { octavia: { floatingIp: true } },
    });
    assert.equal(cluster.of("Member").length, 3);
    assert.deepEqual(cluster.only("Listener").inputs.allowedCidrs, ["10.20.0.0/24", "198.51.100.0/24"]);
    assert.deepEqual(cluster.names("LoopbackEndpoint"), []);
    const { nodes, external } = await promised(endpoints);
    assert.equal(nodes, "10.20.0.9:6443");
    assert.match(external ?? "", /^192\.0\.2\.\d+:6443$/);
    const { certificateNames } = cluster.only("ClusterInit").inputs.specification as {
      certificateNames: string[];
    };
    assert.equal(certificateNames.length, 2);
  });

  it("names the load balancer first in the kubeconfig, by the address at which users reach it", async () => {
    const octavia = (floatingIp: boolean) => ({ octavia: { floatingIp } });
    const cases: [string, Parameters<typeof cluster.make>[0], RegExp][] = [
      ["its floating IP", { endpoint: octavia(true) }, /^https:\/\/192\.0\.2\.\d+:6443$/],
      ["its address", { endpoint: octavia(false) }, /^https:\/\/10\.20\.0\.9:6443$/],
      [
        "a control plane, where only those have floating IPs",
        { endpoint: octavia(false), pools: [pool("cp", { floatingIp: true })] },
        /^https:\/\/192\.0\.2\.\d+:6443$/,
      ],
      [
        "a load balancer that exists",
        { endpoint: { external: { host: "api.example.com", port: 443 } } },
        /^https:\/\/api\.example\.com:443$/,
      ],
      ["a control plane, where there is none", {}, /^https:\/\/10\.20\.0\.1\d:6443$/],
    ];
    for (const [what, over, server] of cases) {
      cluster.forget();
      const { kubeconfig } = await cluster.make(over);
      const [first] = await readEndpoints({ kubeconfig: await promised(kubeconfig) });
      assert.match(first?.server ?? "", server, what);
      const [controlPlane = ""] = cluster.names("Instance");
      assert.equal(first?.name, what.startsWith("a control plane") ? controlPlane : "demo", what);
    }
  });

  it("boots from a volume on request", async () => {
    await cluster.make({ pools: [pool("cp", { rootVolume: { sizeGiB: 40, type: "ssd" } })] });
    const { inputs } = cluster.only("Instance");
    assert.equal(inputs.imageId, undefined);
    assert.deepEqual(inputs.blockDevices, [
      {
        uuid: "image-id",
        sourceType: "image",
        destinationType: "volume",
        volumeSize: 40,
        volumeType: "ssd",
        bootIndex: 0,
        deleteOnTermination: true,
      },
    ]);
  });

  it("allows the pods of the built-in network to send from their own addresses", async () => {
    await cluster.make({
      cluster: { version: "1.36.3", network: { plugin: { bridge: {} } }, ssh: { privateKey: "KEY" } },
    });
    const pairs = [{ ipAddress: "10.244.0.0/16" }];
    assert.deepEqual(
      cluster.of("Port").map(({ inputs }) => inputs.allowedAddressPairs),
      [pairs, pairs, pairs],
    );
  });
});
