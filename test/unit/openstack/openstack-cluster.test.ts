import assert from "node:assert/strict";
import * as pulumi from "@pulumi/pulumi";
import type { OpenstackClusterArgs } from "../../../components/openstack/openstack-cluster-args";
import type { Pool } from "../../../core/openstack/pool";
import type { StateResources } from "../../../core/state-resources";

interface Registered {
  name: string;
  type: string;
  inputs: Record<string, unknown>;
  options: pulumi.CustomResourceOptions;
}

const KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f";

const pool = (name: string, over: Partial<Pool> = {}): Pool => ({
  name,
  role: name === "cp" ? "control-plane" : "worker",
  replicas: 1,
  flavor: "m1",
  image: "debian",
  zones: [],
  antiAffinity: "soft",
  labels: {},
  taints: [],
  floatingIp: false,
  maxSurge: 1,
  ...over,
});

const promised = <T>(output: pulumi.Output<T>): Promise<T> => new Promise((resolve) => output.apply(resolve));

describe("OpenstackCluster", () => {
  let registered: Registered[];
  let OpenstackCluster: typeof import("../../../components/openstack/openstack-cluster").OpenstackCluster;

  before(async function () {
    this.timeout(60_000);
    await pulumi.runtime.setMocks(
      {
        call: ({ inputs }) => inputs as Record<string, unknown>,
        newResource: ({ name, inputs, type }) => {
          const known = registered.find((resource) => resource.name === name && resource.type === type);
          if (known) known.inputs = inputs as Record<string, unknown>;
          const index = registered.filter((resource) => resource.type === type).length;
          return { id: `${name}-id`, state: { ...outputsOf(index), ...(inputs as object) } };
        },
      },
      "foresail",
      "test",
      false,
    );
    ({ OpenstackCluster } = await import("../../../components/openstack/openstack-cluster.js"));
  });

  beforeEach(() => {
    registered = [];
  });

  /** What only the cloud and the handlers know. */
  function outputsOf(index: number): object {
    return {
      allFixedIps: [`10.20.0.${10 + index}`],
      address: `192.0.2.${10 + index}`,
      vipAddress: "10.20.0.9",
      vipPortId: "vip-port",
      nodes: [],
      hostKey: KEY,
      mark: "0123456789ab",
      healthy: "cp-1",
      admin: { certificateAuthority: "Q0E=", clientCertificate: "Q0M=", clientKey: "S0VZ" },
      found: {
        images: { debian: "image-id" },
        flavors: { m1: "flavor-id" },
        externalNetworkId: "external-id",
        authUrl: "http://127.0.0.1:5000/v3",
      },
    };
  }

  async function cluster(over: Partial<OpenstackClusterArgs> = {}) {
    const spy: pulumi.ResourceTransformation = ({ name, type, opts }) => {
      registered.push({ name, type, inputs: {}, options: opts });
      return undefined;
    };
    const made = new OpenstackCluster(
      "demo",
      {
        cloud: "eu1",
        network: { cidr: "10.20.0.0/24", dns: [], externalNetwork: "public" },
        publicKey: KEY,
        pools: [pool("cp"), pool("w", { replicas: 2 })],
        access: { ssh: ["198.51.100.0/24"], api: ["198.51.100.0/24"], nodePorts: [] },
        cloudProvider: { enabled: false },
        cluster: { version: "1.36.3", network: { plugin: { flannel: {} } }, ssh: { privateKey: "KEY" } },
        existing: {},
        ...over,
      },
      { transformations: [spy] },
    );
    await promised(made.nodes);
    await promised(made.remaining);
    await promised(pulumi.output(made.servers));
    await promised(pulumi.output(made.kubeconfig));
    // what waits for all of the cluster comes last
    await new Promise((resolve) => setImmediate(resolve));
    return made;
  }

  const of = (type: string) => registered.filter((resource) => resource.type.endsWith(`:${type}`));
  const names = (type: string) => of(type).map(({ name }) => name);
  const only = (type: string) => {
    const [first, ...more] = of(type);
    assert.ok(first && more.length === 0, `${type}: ${names(type).join(", ")}`);
    return first;
  };

  it("makes a network, groups, a key, and a port and a server a machine", async () => {
    await cluster();
    for (const type of ["Network", "Subnet", "Router", "RouterInterface", "Keypair", "CloudPlan", "Provider"])
      assert.equal(of(type).length, type === "Provider" ? names("Provider").length : 1, type);
    assert.deepEqual(
      names("Instance").map((name) => name.replace(/-[0-9a-z]{5}$/, "")),
      ["demo-cp-1", "demo-w-1", "demo-w-2"],
    );
    assert.deepEqual(names("Port"), names("Instance"));
    assert.deepEqual(names("ServerGroup"), ["demo-cp-soft", "demo-w-soft"]);
    assert.deepEqual(names("FloatingIp"), []);
    assert.equal(only("InitializedMark").name, "demo-initialized");
    assert.equal(only("Router").inputs.externalNetworkId, "external-id");
  });

  it("keeps no credential in the provider's inputs", async () => {
    await cluster();
    const provider = registered.find(({ type }) => type === "pulumi:providers:openstack")!;
    const given = Object.entries(provider.inputs).filter(([, value]) => value !== undefined);
    assert.deepEqual(Object.fromEntries(given).cloud, "eu1");
    assert.deepEqual(
      given.map(([key]) => key).filter((key) => /password|secret|token|credential/i.test(key)),
      [],
    );
  });

  it("opens nothing to the world, and says of each rule what it is for", async () => {
    await cluster();
    const rules = of("SecGroupRule").map(({ inputs }) => inputs);
    assert.ok(rules.length > 6);
    for (const rule of rules) {
      assert.notEqual(rule.remoteIpPrefix, "0.0.0.0/0");
      assert.ok(rule.remoteIpPrefix ?? rule.remoteGroupId, JSON.stringify(rule));
      assert.ok(rule.description);
    }
  });

  it("deletes rules with their groups, since the provider takes 5 s for each", async () => {
    await cluster();
    for (const { name, options } of of("SecGroupRule")) {
      const [group] = /^demo-(nodes|control-planes)/.exec(name) ?? [];
      const urn = await promised((options.deletedWith as pulumi.Resource).urn);
      assert.equal(urn.split("::").at(-1), group, name);
    }
  });

  it("names servers as machines and Nodes are named, and never lets the provider replace one", async () => {
    await cluster();
    for (const { name, inputs, options } of of("Instance")) {
      assert.equal(`demo-${inputs.name as string}`, name);
      for (const property of ["keyPair", "userData", "imageId", "flavorId", "networks", "availabilityZone"])
        assert.ok(options.ignoreChanges?.includes(property), property);
    }
    assert.deepEqual(
      of("Command").map(({ name }) => name),
      names("Instance").map((name) => `${name}-prepare`),
    );
  });

  it("gives floating IPs to pools that ask for them, and uses them for SSH and the API", async () => {
    await cluster({ pools: [pool("cp", { floatingIp: true }), pool("w")] });
    assert.equal(of("FloatingIp").length, 1);
    const [machine] = only("ClusterInit").inputs.machines as { address: string; internalAddress: string }[];
    assert.match(machine!.address, /^192\.0\.2\./);
    assert.match(machine!.internalAddress, /^10\.20\.0\./);
  });

  it("makes no network where one exists", async () => {
    await cluster({ network: { id: "net-1", cidr: "10.20.0.0/24" } });
    for (const type of ["Network", "Subnet", "Router", "RouterInterface"]) assert.deepEqual(names(type), []);
    for (const { inputs } of of("Port")) assert.equal(inputs.networkId, "net-1");
  });

  it("puts Octavia's load balancer in front of all control planes", async () => {
    const { endpoints } = await cluster({
      pools: [pool("cp", { replicas: 3 }), pool("w")],
      endpoint: { octavia: { floatingIp: true } },
    });
    assert.equal(of("Member").length, 3);
    assert.deepEqual(only("Listener").inputs.allowedCidrs, ["198.51.100.0/24", "10.20.0.0/24"]);
    assert.deepEqual(names("LoopbackEndpoint"), []);
    const { nodes, external } = await promised(endpoints);
    assert.equal(nodes, "10.20.0.9:6443");
    assert.match(external ?? "", /^192\.0\.2\.\d+:6443$/);
    const { certificateNames } = only("ClusterInit").inputs.specification as { certificateNames: string[] };
    assert.equal(certificateNames.length, 2);
  });

  it("boots from a volume where one is asked for", async () => {
    await cluster({ pools: [pool("cp", { rootVolume: { size: 40, type: "ssd" } })] });
    const { inputs } = only("Instance");
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

  it("lets the pods of the built-in network send from their own addresses", async () => {
    await cluster({
      cluster: { version: "1.36.3", network: { plugin: { bridge: {} } }, ssh: { privateKey: "KEY" } },
    });
    for (const { inputs } of of("Port"))
      assert.deepEqual(inputs.allowedAddressPairs, [{ ipAddress: "10.244.0.0/16" }]);
  });

  describe("on machines that exist", () => {
    /** The state after a run with these arguments, all Nodes joined. */
    function stateOf(): StateResources {
      const nodes = of("Instance").map(({ inputs }) => ({ name: inputs.name }));
      const servers = of("Instance").map(({ name, inputs }): [string, StateResources[string]] => [
        `urn:pulumi:test::foresail::x$openstack:compute/instance:Instance::${name}`,
        { type: "openstack:compute/instance:Instance", outputs: inputs },
      ]);
      const group = { type: "pulumi-nodejs:dynamic/foresail:NodeGroup", outputs: { nodes } };
      return Object.fromEntries([...servers, ["urn:pulumi:test::foresail::x$y::demo-control-plane", group]]);
    }

    it("changes no server for another key or other user data", async () => {
      await cluster();
      const before = names("Instance");
      const keys = names("Keypair");
      const existing = stateOf();
      registered = [];
      const other = KEY.replace("AgMEBQY", "AgMEBQZ");
      assert.notEqual(other, KEY);
      await cluster({ publicKey: other, userData: "#cloud-config\n", existing });
      assert.deepEqual(names("Instance"), before);
      assert.notDeepEqual(names("Keypair"), keys);
    });

    it("replaces one worker a run for another flavour, and says what is left", async () => {
      await cluster();
      const before = names("Instance");
      const existing = stateOf();
      registered = [];
      const pools = [pool("cp"), pool("w", { replicas: 2, flavor: "m2" })];
      const { remaining } = await cluster({ pools, existing });
      const now = names("Instance");
      assert.equal(now.length, 3);
      assert.deepEqual(now[0], before[0]);
      assert.notEqual(now[1], before[1]);
      assert.equal(now[2], before[2]);
      assert.deepEqual(only("CloudPlan").inputs.leaving, [before[1]!.replace("demo-", "")]);
      const lines = await promised(remaining);
      assert.equal(lines.length, 1);
      assert.match(lines[0]!, /^then, in the next run: w-2: .* \(flavour m1 → m2\)$/);
    });

    it("keeps a single control plane until its successor has joined", async () => {
      await cluster();
      const before = names("Instance");
      const existing = stateOf();
      registered = [];
      await cluster({ pools: [pool("cp", { image: "debian-13" }), pool("w", { replicas: 2 })], existing });
      assert.equal(names("Instance").length, 4);
      assert.equal(names("Instance")[0], before[0]);
      assert.deepEqual(only("CloudPlan").inputs.leaving, []);
    });

    it("goes to the wished machines run by run: control planes one at a time, workers as many as maxSurge says, in their zones", async () => {
      const pools = (flavor: string) => [
        pool("cp", { replicas: 3, flavor }),
        pool("w", { replicas: 3, flavor, maxSurge: 2, zones: ["a", "b"] }),
      ];
      await cluster({ pools: pools("m1") });
      const runs: string[] = [];
      for (let left = true; left;) {
        const before = names("Instance");
        const existing = stateOf();
        registered = [];
        const { remaining } = await cluster({ pools: pools("m2"), existing });
        const made = names("Instance").filter((name) => !before.includes(name));
        runs.push(made.map((name) => name.replace(/^demo-(.*)-\w{5}$/, "$1")).join(" "));
        assert.equal((only("CloudPlan").inputs.leaving as string[]).length, made.length);
        left = (await promised(remaining)).length > 0;
      }
      assert.deepEqual(runs, ["cp-1", "cp-2", "cp-3", "w-1 w-2", "w-3"]);
      assert.deepEqual(
        of("Instance").map(({ inputs }) => inputs.availabilityZone),
        [undefined, undefined, undefined, "a", "b", "a"],
      );
    });

    it("moves the machines to another network run by run, with both there until the last has moved", async () => {
      const pools = [pool("cp", { replicas: 3 })];
      const network = (cidr: string) => ({ cidr, dns: [], externalNetwork: "public" });
      await cluster({ pools });
      const networks: string[][] = [];
      for (let left = true; left;) {
        const existing = stateOf();
        registered = [];
        const { remaining } = await cluster({ pools, network: network("10.30.0.0/24"), existing });
        networks.push(of("Subnet").map(({ inputs }) => String(inputs.cidr)));
        assert.equal(only("CloudPlan").inputs.refusals, undefined);
        assert.match(
          (only("CloudPlan").inputs.steps as string[]).join(),
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
      const other = { cidr: "10.30.0.0/24", dns: [], externalNetwork: "public" };
      const endpoint = { octavia: { floatingIp: false } };
      await cluster({ cluster: bridge, endpoint });
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
      const existing = { ...stateOf(), ...balancer };
      for (const network of [undefined, other]) {
        registered = [];
        await cluster({ cluster: bridge, endpoint, existing, ...(network ? { network } : {}) });
        const { refusals } = only("CloudPlan").inputs as { refusals?: { reason: string }[] };
        assert.deepEqual(
          refusals?.map(({ reason }) => reason.replace(/;.*/, "")),
          network && [
            "the built-in pod network leads to machines of one network alone, and this cluster's lie in 10.20.0.0/24",
            "Octavia's load balancer has its address in 10.20.0.0/24, and every certificate and kubelet of this cluster holds that address",
          ],
        );
      }
    });

    it("makes another machine for a server that somebody deleted, and has the cluster forget the old one", async () => {
      await cluster();
      const lost = names("Instance")[2]!;
      const existing = Object.fromEntries(
        Object.entries(stateOf()).filter(([urn]) => !urn.endsWith(`::${lost}`)),
      );
      registered = [];
      await cluster({ existing });
      assert.equal(names("Instance").length, 3);
      assert.ok(!names("Instance").includes(lost));
      assert.deepEqual(of("NodeGroup")[0]!.inputs.lost, [lost.replace("demo-", "")]);
    });
  });
});
