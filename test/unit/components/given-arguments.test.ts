import assert from "node:assert/strict";
import * as pulumi from "@pulumi/pulumi";
import { z } from "zod";
import { checkedArguments } from "../../../components/arguments";
import { checkedPool } from "../../../components/machine-pool/machine-pool-args";
import { checkedOpenstack } from "../../../components/openstack/openstack-cluster-args";
import { checkedTumblebug } from "../../../components/tumblebug/tumblebug-cluster-args";
import { checkedCluster } from "../../../components/kubeadm/validation";
import { dnsLabelIssue } from "../../../lib/validation/names";
import { ClusterInput } from "../../../stacks/schema/cluster";
import { MachinePoolSection } from "../../../stacks/schema/machine-pool";
import { OpenstackSection } from "../../../stacks/schema/openstack";
import { text, whole } from "../../../stacks/schema/rule";
import { TumblebugSection } from "../../../stacks/schema/tumblebug";

const Pool = z.strictObject({
  name: text((name) => dnsLabelIssue(name)),
  replicas: whole(0, 5).default(1),
});
const Section = z.strictObject({
  pools: z.array(Pool),
  network: z.strictObject({ cidr: z.string().default("10.0.0.0/8") }).prefault({}),
});

const unknown = () => {
  const never: Promise<string> = new Promise(() => undefined);
  return pulumi.output(never);
};
const promised = (value: unknown) =>
  (pulumi.output(value as object) as unknown as { promise: () => Promise<unknown> }).promise();
const KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f";

describe("arguments of a component", () => {
  it("have the defaults of the schema, also beside values that are known later", async () => {
    const args = checkedArguments("Demo d", Section, { pools: [{ name: pulumi.output("a") }] });
    assert.deepEqual(await promised(args), {
      pools: [{ name: "a", replicas: 1 }],
      network: { cidr: "10.0.0.0/8" },
    });
  });

  it("are refused with the path of each, whatever is not known yet", () => {
    assert.throws(
      () => checkedArguments("Demo d", Section, { pools: [{ name: unknown(), replicas: 9 }, { nam: "b" }] }),
      (error: Error) => {
        assert.deepEqual(error.message.split("\n  "), [
          "Demo d has 3 validation issues:",
          "pools[0].replicas: is 9; write 5 or less",
          "pools[1].name: is missing; write a text",
          'pools[1].nam: is not known; did you mean "name"?',
        ]);
        return true;
      },
    );
  });

  it("are checked when they become known, before anything gets them", async () => {
    const { pools } = checkedArguments("Demo d", z.strictObject({ pools: z.array(Pool) }), {
      pools: [{ name: "a", replicas: pulumi.output(Promise.resolve(9)) }],
    });
    await assert.rejects(promised(pools), /Demo d has 1 validation issue:\n {2}pools\[0\]\.replicas: is 9/);
  });

  it("never show a secret", async () => {
    const name = pulumi.secret("Hunter 2");
    const { pools } = checkedArguments("Demo d", z.strictObject({ pools: z.array(Pool) }), {
      pools: [{ name }],
    });
    await assert.rejects(promised(pools), (error: Error) => {
      assert.match(error.message, /pools\[0\]\.name: is not valid/);
      return !error.message.includes("Hunter");
    });
  });

  it("are plain where they decide which resources there are", () => {
    const make = () =>
      checkedArguments(
        "Demo d",
        Section,
        { pools: [{ name: pulumi.output("a") }] },
        { plain: ["pools.name"] },
      );
    assert.throws(
      make,
      /pools\[0\]\.name: decides which resources there are; write a plain value, no output/,
    );
  });
});

describe("a program's cluster", () => {
  const machine = { name: "cp-1", role: "control-plane", address: "192.0.2.1" } as const;
  const cluster = { version: "1.36.3" };
  const access = { ssh: ["192.0.2.0/24"], api: ["192.0.2.0/24"] };

  it("is refused by rules over several fields when all are known, in words without a secret", async () => {
    const late = async (args: object) => {
      const others = process.listeners("unhandledRejection");
      process.removeAllListeners("unhandledRejection");
      const found = new Promise<string>((resolve) => {
        process.on("unhandledRejection", (error: Error) => {
          resolve(error.message);
        });
      });
      checkedCluster("demo", {
        ...{ ...cluster, machines: [machine], ssh: { privateKey: pulumi.secret(unknown()) } },
        files: [{ path: "/opt/a", content: pulumi.secret("hunter2") }],
        ...args,
      });
      const message = await found;
      await new Promise(setImmediate);
      process.removeAllListeners("unhandledRejection");
      others.forEach((listener) => process.on("unhandledRejection", listener));
      return message;
    };
    const plain = await late({ encryptSecretsAtRest: pulumi.output(false), encryptionKeyGeneration: 2 });
    assert.match(plain, /encryptionKeyGeneration: .*encryptSecretsAtRest/);
    const secret = await late({ network: { podSubnet: pulumi.secret("10.96.0.0/16") } });
    assert.match(secret, /: is not valid; the reason is not shown/);
    assert.doesNotMatch(secret, /10\.96/);
  });

  it("is refused like that of a stack file", () => {
    assert.throws(
      () => checkedCluster("demo", { ...cluster, machines: [{ ...machine, address: "x y" }] }),
      /machines\[0\]\.address: "x y" is neither a host name nor an IPv4 address/,
    );
  });

  it("needs no optional field of OpenStack or CB-Tumblebug", () => {
    const pool = { name: "cp", role: "control-plane", replicas: 1 } as const;
    const { pools, cloudProvider, network } = checkedOpenstack("demo", {
      ...{ access, cluster, network: { externalNetwork: "public" }, keypair: { publicKey: KEY } },
      pools: [{ ...pool, image: "debian", flavor: "m1" }],
    });
    assert.deepEqual(pools[0], {
      ...{ ...pool, image: "debian", flavor: "m1", zones: [], antiAffinity: "soft", labels: {}, taints: [] },
      ...{ floatingIp: false, replacementsPerRun: 1 },
    });
    assert.deepEqual([cloudProvider.enabled, network.cidr], [true, "10.20.0.0/24"]);
    const group = { ...pool, connection: "aws", spec: "t3", image: "ami" };
    const given = {
      ...{ namespace: "ns1", connections: [{ name: "aws" }], access, cluster },
      groups: [group, { ...group, name: "w", role: "worker" as const }],
    };
    const address = "https://tumblebug.example.org/tumblebug";
    const made = checkedTumblebug("demo", { ...given, address });
    assert.deepEqual(
      [made.user, made.timeouts.machinesSeconds, made.nodeAddresses],
      ["cb-user", 2400, "private"],
    );
    assert.deepEqual(made.server, { address, allowHttp: false, generation: "auto" });
    // the form of 0.1.0, whose state has no defaults
    assert.deepEqual(checkedTumblebug("demo", { ...given, server: { address } }).server, { address });
  });

  it("has addresses that are known later, and waits for them", async () => {
    const later = pulumi.output(Promise.resolve("x y"));
    const { machines } = checkedCluster("demo", { ...cluster, machines: [{ ...machine, address: later }] });
    await assert.rejects(promised(machines), /machines\[0\]\.address: "x y" is neither a host name/);
    const version = pulumi.output(Promise.resolve("1.36"));
    const checked = checkedCluster("demo", { version, machines: [{ ...machine, address: unknown() }] });
    await assert.rejects(promised(checked.version), /version: "1\.36" has no patch number/);
  });
});

describe("a refusal of arguments", () => {
  const access = { ssh: ["192.0.2.0/24"], api: ["192.0.2.0/24"] };
  const group = { role: "control-plane", replicas: 1, connection: "aws", spec: "t3", image: "ami" } as const;
  const given = {
    ...{ namespace: "ns1", connections: [{ name: "aws" }], access, cluster: { version: "1.36.3" } },
    groups: [
      { ...group, name: "cp" },
      { ...group, name: "w", role: "worker" as const },
    ],
  };
  const address = "http://192.0.2.1:1323/tumblebug";

  it("names fields as the program writes them", () => {
    assert.throws(
      () => checkedTumblebug("demo", { ...given, address }),
      /\n {2}address: .* set `allowHttp: true`/,
    );
    assert.throws(
      () => checkedTumblebug("demo", { ...given, server: { address } }),
      /\n {2}server\.address: .* set `server\.allowHttp: true`/,
    );
    assert.throws(
      () =>
        checkedTumblebug("demo", {
          ...given,
          server: { address: "https://a.example", allowHtp: true } as never,
        }),
      /\n {2}server\.allowHtp: is not known; did you mean "allowHttp"/,
    );
  });

  it("is one message without a stack trace, of known values and of those that are known later", async () => {
    const withoutStack = (error: Error) => error.stack === "" && error.message.includes("x y");
    const args = (address: pulumi.Input<string>) => ({
      version: "1.36.3",
      machines: [{ name: "cp-1", role: "control-plane" as const, address }],
    });
    assert.throws(() => checkedCluster("demo", args("x y")), withoutStack);
    const { machines } = checkedCluster("demo", args(pulumi.output(Promise.resolve("x y"))));
    await assert.rejects(promised(machines), withoutStack);
  });

  it("is none of what 0.1.0 accepted, and state has the same", async () => {
    const address = "192.0.2.1";
    const worker = { name: "w-1", role: "worker" as const, address: "192.0.2.2", pool: "" };
    const given = [{ name: "cp-1", role: "control-plane" as const, address }, worker];
    const files = [{ path: "/opt/a", content: "a", owner: "" }];
    const rollout = { pausedNodes: [""] };
    const args = checkedCluster("demo", {
      ...{ version: "1.36.3", machines: given, lost: [""], files, rollout, certificates: {} },
      ...{
        imageRepository: "",
        caBundle: pulumi.output(""),
        network: { plugin: { cilium: { version: "" } } },
      },
    });
    const { machines, lost, certificates, imageRepository, caBundle } = args;
    assert.deepEqual([machines[1]?.pool, lost, certificates, imageRepository], ["", [""], {}, ""]);
    assert.deepEqual([args.files, args.rollout.pausedNodes, await promised(caBundle)], [files, [""], ""]);
  });

  it("is none of a load balancer that is known later, and names what has to be plain", () => {
    const pool = { name: "cp", role: "control-plane", replicas: 1, image: "debian", flavor: "m1" } as const;
    const later = pulumi.output(KEY);
    const endpoint = { external: { host: pulumi.output("api.example.org") } };
    const network = { externalNetwork: "public" };
    const cloud = { access, network, pools: [pool], cluster: given.cluster };
    checkedOpenstack("demo", { ...cloud, endpoint, keypair: { publicKey: KEY } });
    checkedTumblebug("demo", { ...given, address: "https://a.example", endpoint });
    const plain = /keypair\.publicKey: decides which resources there are/;
    assert.throws(
      () => checkedOpenstack("demo", { ...cloud, keypair: { publicKey: later as never } }),
      plain,
    );
  });

  it("is none of what 0.1.0 accepted of OpenStack and CB-Tumblebug", () => {
    const none = { ...access, ssh: [] };
    const pool = { role: "control-plane", replicas: 1, image: "debian", flavor: "m1" } as const;
    const cloud = checkedOpenstack("demo", {
      ...{ access: none, cluster: given.cluster, keypair: { publicKey: KEY } },
      network: { id: "n1", cidr: "10.0.0.0/24", externalNetwork: "" },
      pools: [
        { ...pool, name: "cp" },
        { ...pool, name: "w", role: "worker", replacementsPerRun: 0 },
      ],
    });
    assert.deepEqual([cloud.network.externalNetwork, cloud.access.ssh], ["", []]);
    assert.equal(cloud.pools[1]?.replacementsPerRun, 0);
    const server = { address: "https://a.example", caBundle: "" };
    const vms = checkedTumblebug("demo", {
      ...{ ...given, access: none, server, resources: { prefix: "", keepOnDelete: false }, lost: [""] },
      groups: [...given.groups, { ...group, name: "gpu", role: "worker" as const, replicas: 0 }],
    });
    assert.deepEqual([vms.server, vms.resources.prefix, vms.lost], [server, "", [""]]);
    assert.equal(vms.groups[2]?.replicas, 0);
  });

  it("needs no name, also where a program's own is undefined", () => {
    const machines = [{ name: "cp-1", role: "control-plane" as const, address: "192.0.2.1" }];
    const args = { version: "1.36.3", machines, name: undefined };
    assert.equal(checkedCluster("demo", args as never).name, "demo");
  });
});

describe("a field of the schema", () => {
  const KUBECONFIG = "{contexts: [{name: management}]}";
  const access = { ssh: ["192.0.2.0/24"], api: ["192.0.2.0/24"] };
  const pool = { role: "control-plane", replicas: 1, image: "debian" } as const;
  const cluster = { version: "1.36.3" };
  const SYSTEMS: [name: string, schema: z.ZodObject, valid: object, make: (args: never) => object][] = [
    [
      "cluster",
      ClusterInput,
      { ...cluster, machines: [{ name: "cp-1", role: "control-plane", address: "192.0.2.1" }] },
      (args) => checkedCluster("demo", args),
    ],
    [
      "openstack",
      OpenstackSection,
      {
        ...{ access, cluster, network: { externalNetwork: "public" }, keypair: { publicKey: KEY } },
        pools: [{ ...pool, name: "cp", flavor: "m1" }],
      },
      (args) => checkedOpenstack("demo", args),
    ],
    [
      "tumblebug",
      TumblebugSection,
      {
        ...{
          address: "https://t.example.org",
          namespace: "ns1",
          connections: [{ name: "aws" }],
          access,
          cluster,
        },
        groups: [
          { ...pool, name: "cp", connection: "aws", spec: "t3" },
          { ...pool, name: "w", role: "worker", connection: "aws", spec: "t3" },
        ],
      },
      (args) => checkedTumblebug("demo", args),
    ],
    [
      "machinePool",
      MachinePoolSection,
      {
        ...{ kubeconfig: KUBECONFIG, cluster: "demo", bootstrap: { dataSecretName: "data" } },
        infrastructure: { apiVersion: "infrastructure.cluster.x-k8s.io/v1beta1", kind: "Pool" },
      },
      (args) => checkedPool("demo", args),
    ],
  ];

  for (const [name, schema, valid, make] of SYSTEMS)
    it(`of ${name} reaches a program with its check and its default`, () => {
      const made = make(valid as never) as Record<string, unknown>;
      for (const [field, type] of Object.entries(schema.shape)) {
        assert.throws(
          () => make({ ...valid, [field]: () => 0 } as never),
          (error: Error) => error.message.includes(`\n  ${field}: `),
          field,
        );
        const byDefault: unknown = (type as z.ZodType).safeParse(undefined).data;
        const isOwn = OTHERS.includes(field) || Object.hasOwn(valid, field) || byDefault === undefined;
        if (!isOwn) assert.deepEqual(made[field], byDefault, field);
      }
    });
});

/** Fields that state has as they were written, or in a form of its own; other tests see their defaults. */
const OTHERS = ["kubeadm", "authentication", "allowHttp", "generation"];
