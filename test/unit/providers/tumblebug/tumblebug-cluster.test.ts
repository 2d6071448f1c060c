import assert from "node:assert/strict";
import { mock } from "node:test";
import * as pulumi from "@pulumi/pulumi";
import { setTimeout as pause } from "node:timers/promises";
import type { TumblebugClusterArgs } from "../../../../components/tumblebug/tumblebug-cluster-args";
import type { StateResources } from "../../../../lib/pulumi/state";
import { wantedSlots, type MachineGroup } from "../../../../providers/tumblebug/plan/groups";

interface Registered {
  name: string;
  type: string;
  inputs: Record<string, unknown>;
  options: pulumi.CustomResourceOptions;
}

const KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f";
const group = (name: string, over: Partial<MachineGroup> = {}): MachineGroup => ({
  ...{ name, role: name === "cp" ? "control-plane" : "worker", connection: "aws", replicas: 1 },
  ...{ spec: "t3.medium", image: "ami-1", labels: {}, taints: [] },
  ...over,
});
const promised = <T>(output: pulumi.Output<T>): Promise<T> => new Promise((resolve) => output.apply(resolve));
const ref = (provider: string) => ({ provider, region: `${provider}-1`, zone: `${provider}-1a` });

describe("TumblebugCluster", () => {
  let registered: Registered[];
  let state: StateResources;
  let TumblebugCluster: typeof import("../../../../components/tumblebug/tumblebug-cluster").TumblebugCluster;

  before(async function () {
    this.timeout(60_000);
    await pulumi.runtime.setMocks(
      {
        call: ({ token, inputs }) =>
          token === "pulumi:pulumi:readStackResourceOutputs"
            ? { outputs: state }
            : (inputs as Record<string, unknown>),
        newResource: ({ name, inputs, type }) => {
          const known = registered.find((resource) => resource.name === name && resource.type === type);
          if (known) known.inputs = inputs as Record<string, unknown>;
          return { id: `${name}-id`, state: { ...outputsOf(inputs as Inputs), ...(inputs as object) } };
        },
      },
      "foresail",
      "test",
      false,
      "organization",
    );
    ({ TumblebugCluster } = await import("../../../../components/tumblebug/tumblebug-cluster.js"));
  });

  beforeEach(() => {
    registered = [];
  });

  interface Inputs {
    name?: string;
    slots?: { machine: string; connection: string }[];
  }

  /** What only the server and the handlers know. */
  function outputsOf({ name, slots = [] }: Inputs): object {
    const vms = slots.map(({ machine, connection }, index) => [
      machine,
      {
        ...{ vm: `${machine}-1`, connection, sshPort: 22, user: "cb-user", region: "r", zone: "z" },
        ...{ publicAddress: `203.0.113.${index + 1}`, privateAddress: `10.21.3.${index + 1}` },
      },
    ]);
    return {
      object: name,
      privateKey: `KEY of ${name}`,
      mark: "0123456789ab",
      vms: Object.fromEntries(vms) as object,
      known: {},
      leaving: {},
      address: "198.51.100.9",
      found: {
        generation: "mcis",
        connections: { aws: ref("aws"), gcp: ref("gcp") },
        foreign: ["vNets/k1-gcp-vpc"],
        namespaceIsForeign: true,
      },
      nodes: [],
      hostKey: KEY,
      healthy: "cp-1",
      admin: { certificateAuthority: "Q0E=", clientCertificate: "Q0M=", clientKey: "S0VZ" },
    };
  }

  async function cluster({
    existing = {},
    ...over
  }: Partial<TumblebugClusterArgs> & { existing?: StateResources } = {}) {
    state = existing;
    const spy: pulumi.ResourceTransformation = ({ name, type, opts }) => {
      registered.push({ name, type, inputs: {}, options: opts });
      return undefined;
    };
    const made = new TumblebugCluster(
      "k1",
      {
        server: { address: "http://127.0.0.1:1323/tumblebug" },
        namespace: "ns1",
        connections: [{ name: "aws" }, { name: "gcp" }, { name: "unused" }],
        groups: [group("cp"), group("w", { replicas: 2 })],
        network: { cidr: "10.21.0.0/16" },
        nodeAddresses: "private",
        access: { ssh: ["192.0.2.0/24"], api: ["192.0.2.0/24"], nodePorts: [], nodes: [] },
        resources: { keepOnDelete: false },
        user: "cb-user",
        timeouts: { machinesSeconds: 60 },
        cluster: { version: "1.36.3", network: { plugin: { flannel: {} } } },
        ...over,
      },
      { transformations: [spy] },
    );
    await promised(made.nodes);
    await promised(made.status);
    await promised(pulumi.output(made.kubeconfig));
    // what waits for all of the cluster comes last
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
    return made;
  }

  const of = (type: string) => registered.filter((resource) => resource.type.endsWith(`:${type}`));
  const names = (type: string) => of(type).map(({ name }) => name);
  const only = (type: string) => {
    const [first, ...more] = of(type);
    assert.ok(first && more.length === 0, `${type}: ${names(type).join(", ")}`);
    return first;
  };
  const two = { groups: [group("cp"), group("w", { connection: "gcp" })] };

  it("creates what the machines of a connection need, once, and nothing where there are no machines", async () => {
    await cluster();
    assert.deepEqual(names("TumblebugVNet"), ["k1-aws-vpc"]);
    assert.deepEqual(names("TumblebugSecurityGroup"), ["k1-aws-sg", "k1-aws-control-planes-sg"]);
    assert.deepEqual(names("TumblebugSshKey"), ["k1-aws-sshkey"]);
    assert.equal(of("TumblebugSpec").length + of("TumblebugImage").length, 2);
    assert.deepEqual(of("TumblebugNamespace"), []);
  });

  it("creates it for each connection in parallel, with control planes' rules only where they are", async () => {
    await cluster(two);
    assert.deepEqual(names("TumblebugVNet"), ["k1-aws-vpc", "k1-gcp-vpc"]);
    assert.deepEqual(names("TumblebugSecurityGroup"), ["k1-aws-sg", "k1-aws-control-planes-sg", "k1-gcp-sg"]);
    assert.deepEqual(
      of("TumblebugVNet").map(({ inputs }) => inputs.foreign),
      [false, true],
    );
    const blocks = of("TumblebugVNet").map(({ inputs }) => inputs.cidr);
    assert.equal(new Set(blocks).size, 2);
  });

  it("refuses what a stack's configuration refuses", async () => {
    const rows: [object, RegExp][] = [
      [{ user: "root\nx" }, /\n {2}user: /],
      [{ network: { cidr: "10.0.0.0/33" } }, /\n {2}network\.cidr: /],
      [{ cluster: { version: "1.36.3", imageRepository: "a b" } }, /\n {2}cluster\.imageRepository: /],
    ];
    for (const [over, words] of rows) await assert.rejects(async () => cluster(over), words);
  });

  it("takes the block of the VNets under its old name", async () => {
    await cluster({ network: undefined, ...{ networkCidr: "10.21.0.0/16" } });
    const blocks = of("TumblebugVNet").map(({ inputs }) => JSON.stringify(inputs));
    assert.ok(blocks.length > 0 && blocks.every((inputs) => inputs.includes('"10.21.')), blocks.join("\n"));
  });

  it("admits machines by the blocks of all connections, and everyone by none", async () => {
    await cluster(two);
    const blocks = of("TumblebugVNet").map(({ inputs }) => inputs.cidr);
    const groups = of("TumblebugSecurityGroup");
    assert.ok(groups.length > 0 && blocks.length > 0);
    for (const { inputs } of groups) {
      const cidrs = (inputs.rules as { cidr: string }[]).map(({ cidr }) => cidr);
      assert.ok(blocks.every((block) => inputs.name === "k1-gcp" || cidrs.includes(block as string)));
      assert.ok(!cidrs.includes("0.0.0.0/0"));
    }
  });

  it("sets each Node's location, and uses the key of its connection", async () => {
    await cluster(two);
    const machines = of("NodeGroup").flatMap(({ inputs }) => inputs.machines as Record<string, unknown>[]);
    assert.deepEqual(
      machines.map(({ name, labels, address, internalAddress, user }) => [
        ...[name, (labels as Record<string, string>)["topology.kubernetes.io/zone"]],
        ...[address, internalAddress, user],
      ]),
      [
        ["cp-1", "aws-1a", "203.0.113.1", "10.21.3.1", "cb-user"],
        ["w-1", "gcp-1a", "203.0.113.2", "10.21.3.2", "cb-user"],
      ],
    );
    // the whole of it is a secret
    const { credentials } = only("ClusterInit").inputs as { credentials: { value: { privateKeys: object } } };
    assert.deepEqual(credentials.value.privateKeys, {
      "cp-1": "KEY of k1-aws-sshkey",
      "w-1": "KEY of k1-gcp-sshkey",
    });
  });

  it("puts public addresses on nodes and has Cilium encrypt over the Internet", async () => {
    await cluster({
      ...two,
      nodeAddresses: "public",
      access: { ssh: ["192.0.2.0/24"], api: [], nodePorts: [], nodes: ["203.0.113.0/24"] },
      cluster: { version: "1.36.3", network: { plugin: { manifest: { path: "network.yaml" } } } },
    });
    const { specification, machines } = only("ClusterInit").inputs as {
      specification: { network: { holdNodeAddress?: boolean } };
      machines: { address: string; internalAddress: string }[];
    };
    assert.equal(specification.network.holdNodeAddress, true);
    assert.equal(machines.length, 2);
    assert.ok(machines.every(({ address, internalAddress }) => address === internalAddress));
    const { fitNetwork } = await import("../../../../components/tumblebug/pod-network.js");
    const given = { network: { plugin: { cilium: {} }, podSubnet: "10.244.0.0/16" } };
    const fitted = fitNetwork(given, "public").network.plugin;
    assert.deepEqual(fitted, { cilium: { values: { encryption: { enabled: true, type: "wireguard" } } } });
  });

  it("keeps each machine's VM by a resource that is deleted after its users, and with the MCIS", async () => {
    await cluster();
    assert.deepEqual(names("TumblebugVm"), ["k1-cp-1-vm", "k1-w-1-vm", "k1-w-2-vm"]);
    for (const { options } of of("TumblebugVm"))
      assert.equal((options.deletedWith as unknown as { __name: string }).__name, "k1-machines");
  });

  it("has a load balancer that the nodes actually use, in front of the control planes' VM group", async () => {
    const made = await cluster({ endpoint: { nlb: { port: 443 } } });
    const { group: behind, port, targetPort, machines } = only("TumblebugLoadBalancer").inputs;
    assert.deepEqual([behind, port, targetPort, machines], ["cp", 443, 6443, ["cp-1"]]);
    assert.equal((await promised(pulumi.output(made.endpoints))).nodes, "198.51.100.9:443");
    assert.match(await promised(made.kubeconfig), /^current-context: k1$/m);
    assert.match(await promised(made.kubeconfig), /server: https:\/\/198\.51\.100\.9:443$/m);
    assert.deepEqual(of("LoopbackEndpoint"), []);
    const { specification } = only("ClusterInit").inputs as { specification: { certificateNames: string[] } };
    assert.deepEqual(specification.certificateNames, ["198.51.100.9"]);
  });

  describe("with three control planes of an earlier run", () => {
    const named = (names: string[]) => names.map((name) => ({ name }));
    const planes = ["cp-1", "cp-2", "cp-3"];
    const slots = wantedSlots([group("cp", { replicas: 3 }), group("w")]);
    const vms = Object.fromEntries(
      slots.map(({ machine }) => [machine, { vm: `${machine}-1`, connection: "aws" }]),
    );
    const type = "pulumi-nodejs:dynamic/foresail:";
    const existing = {
      "urn:pulumi:test::foresail::any:of:Type::k1-machines": {
        type: `${type}TumblebugMcis`,
        outputs: { vms, slots },
      },
      "urn:pulumi:test::foresail::any:of:Type::k1-control-plane": {
        type: `${type}NodeGroup`,
        outputs: { members: named(planes), machines: named(planes), nodes: named(planes) },
      },
      "urn:pulumi:test::foresail::any:of:Type::k1-api": {
        type: `${type}TumblebugLoadBalancer`,
        outputs: { address: "198.51.100.7" },
      },
    };

    const machinesIn = (list: unknown) => (list as { machine: string }[]).map(({ machine }) => machine);

    it("removes one of them in a run, and leaves the other to the next", async () => {
      const made = await cluster({ existing, groups: [group("cp"), group("w")] });
      assert.deepEqual(names("TumblebugVm"), ["k1-cp-1-vm", "k1-cp-2-vm", "k1-w-1-vm"]);
      const { leaving, steps, later } = only("TumblebugPlan").inputs;
      assert.deepEqual([leaving, (steps as string[]).length], [["cp-3"], 1]);
      assert.deepEqual(await promised(pulumi.output(made.remaining)), later);
      assert.match((later as string[]).join(), /^then, in the next run: cp-2: /);
    });

    it("keeps the load balancer's address in a preview that removes machines from it", async () => {
      const endpoint = { nlb: { port: 443 } };
      const made = await cluster({ existing, endpoint, groups: [group("cp"), group("w")] });
      const { machines, vms: behind } = only("TumblebugLoadBalancer").inputs;
      assert.deepEqual(machines, ["cp-1", "cp-2"]);
      assert.deepEqual(behind, { "cp-1": "cp-1-1", "cp-2": "cp-2-1" });
      assert.equal((await promised(pulumi.output(made.endpoints))).nodes, "198.51.100.7:443");
    });

    it("loses the machines that `lost` names when a group becomes smaller, whatever their index", async () => {
      await cluster({ existing, groups: [group("cp"), group("w")], lost: ["cp-1", "cp-2"] });
      const { slots: staying, refusals } = only("TumblebugPlan").inputs;
      assert.deepEqual(machinesIn(staying), ["cp-3", "w-1"]);
      assert.doesNotMatch(JSON.stringify(refusals), /tumblebug\.lost/);
    });

    it("refuses to drop a connection that still has some of them", async () => {
      const moved = { connection: "gcp" };
      await cluster({
        existing,
        connections: [{ name: "gcp" }],
        groups: [group("cp", moved), group("w", moved)],
      });
      const { refusals } = only("TumblebugPlan").inputs as {
        refusals: { property: string; reason: string }[];
      };
      assert.equal(refusals[0]?.property, "tumblebug.connections");
      assert.match(refusals[0].reason, /^cp-1 is in "aws"; list that connection until the machine is gone/);
    });
  });

  it("refuses the numbers of control planes that the configuration refuses", async () => {
    await assert.rejects(
      async () => cluster({ groups: [group("cp", { replicas: 2 }), group("w")] }),
      /groups\[0\]\.replicas: 2 control planes tolerate no more failures than 1; use 1 or 3/,
    );
  });

  describe("with plain http to a server on another host", () => {
    const address = "http://192.0.2.1:1323/tumblebug";

    it("refuses it, and names the argument that allows it", async () => {
      await assert.rejects(
        cluster({ server: { address } }),
        /server\.address: .* is plain http to another host.*set `server\.allowHttp: true`/,
      );
    });

    it("warns in each preview where it is allowed, and records nothing of it", async () => {
      const warn = mock.method(pulumi.log, "warn", () => Promise.resolve());
      const preview = mock.method(pulumi.runtime, "isDryRun", () => true);
      for (let run = 1; run <= 2; run++) {
        registered = [];
        // a preview leaves outputs unknown, so nothing waits for them
        void cluster({ server: { address, allowHttp: true } });
        while (of("TumblebugPlan").every(({ inputs }) => inputs["slots"] === undefined)) await pause(10);
      }
      preview.mock.restore();
      warn.mock.restore();
      const warnings = warn.mock.calls.map(({ arguments: [words] }) => words);
      const warning = `${address}: the credentials are sent over plain http (allowHttp is on)`;
      assert.deepEqual(warnings, [warning, warning]);
      const { server, refusals } = only("TumblebugPlan").inputs;
      assert.deepEqual([server, refusals], [{ address, generation: "auto" }, undefined]);
    });
  });

  it("is Provisioned when a run completed", async () => {
    const { status } = await cluster();
    assert.deepEqual(await promised(status), { phase: "Provisioned", reason: "", message: "" });
  });
});
