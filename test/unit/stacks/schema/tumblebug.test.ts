import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import Ajv from "ajv";
import { parse } from "yaml";
import { stackFileJsonSchema } from "../../../../scripts/configuration-schema";
import { loadConfiguration } from "../../../../stacks/schema";
import { issuesOf } from "./issues";
import { cloudReader } from "./valid";

type Fields = Record<string, unknown>;

const group = (name: string, over: Fields = {}): Fields => ({
  ...{ name, role: name === "cp" ? "control-plane" : "worker", connection: "aws" },
  ...{ replicas: 1, spec: "t3.medium", image: "ami-1" },
  ...over,
});

/** The smallest valid section, with some fields replaced. */
const section = (over: Fields = {}): Fields => ({
  address: "http://127.0.0.1:1323/tumblebug",
  namespace: "ns1",
  connections: [{ name: "aws" }],
  groups: [group("cp"), group("w")],
  access: { ssh: ["192.0.2.0/24"], api: ["192.0.2.0/24"] },
  ...over,
});

const reader = (tumblebug: unknown, cluster?: Fields, others?: Record<string, string>) =>
  cloudReader("tumblebug", tumblebug, cluster, others);

const groups = (...list: Fields[]) => section({ groups: list });
const two = (over: Fields = {}) =>
  section({
    connections: [{ name: "aws" }, { name: "gcp" }],
    groups: [group("cp"), group("w", { connection: "gcp" })],
    ...over,
  });
const long = "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz";

describe("configuration: the system tumblebug", () => {
  it("accepts the smallest section and sets the defaults", () => {
    const configuration = loadConfiguration(reader(section()));
    assert.equal(configuration.system, "tumblebug");
    if (configuration.system !== "tumblebug") return;
    const { generation, endpoint, network, resources, user } = configuration.tumblebug;
    assert.deepEqual(
      { generation, endpoint, network, resources, user },
      {
        generation: "auto",
        endpoint: { loopback: {} },
        network: { cidr: "10.21.0.0/16" },
        resources: { keepOnDelete: false },
        user: "cb-user",
      },
    );
  });

  it("accepts a cluster without workers, as the other systems do", () =>
    assert.equal(loadConfiguration(reader(groups(group("cp")))).system, "tumblebug"));

  it("accepts plain http to another host on request", () => {
    const address = "http://192.0.2.1:1323/tumblebug";
    assert.equal(loadConfiguration(reader(section({ address, allowHttp: true }))).system, "tumblebug");
  });

  const table: [said: string, tumblebug: unknown, cluster?: Fields][] = [
    [
      'tumblebug.address: "http://192.0.2.1:1323/tumblebug" is plain http to another host, which would show the credentials to the network; ' +
        "write an https address or one on localhost, or set `tumblebug.allowHttp: true` if you trust the network",
      section({ address: "http://192.0.2.1:1323/tumblebug" }),
    ],
    ["tumblebug: is missing; examples/tumblebug/ shows a complete one", undefined],
    ['tumblebug.adress: is not known; did you mean "address"?', section({ adress: "x" })],
    [
      'cluster.machines: is not for the system "tumblebug"; write the machines under foresail:tumblebug',
      section(),
      { machines: [] },
    ],
    [
      'tumblebug.namespace: "Ns" is not a name for Tumblebug; write lower-case letters, digits and dashes, with a letter first and no dash last',
      section({ namespace: "Ns" }),
    ],
    [
      'tumblebug.groups: no group has the control planes; give one the role "control-plane"',
      groups(group("w")),
    ],
    [
      "tumblebug.groups[1].role: groups[0] has the control planes already; make this one a worker group, or raise the replicas there",
      groups(group("cp"), group("m", { role: "control-plane" }), group("w")),
    ],
    [
      "tumblebug.groups[0].replicas: 2 control planes tolerate no more failures than 1; use 1 or 3",
      groups(group("cp", { replicas: 2 }), group("w")),
    ],
    ["tumblebug.groups[1].replicas: is 0; write 1 or more", groups(group("cp"), group("w", { replicas: 0 }))],
    [
      'tumblebug.groups[2].name: "w" is listed twice; remove one',
      groups(group("cp"), group("w"), group("w")),
    ],
    [
      'tumblebug.groups[1].name: "control-plane" is reserved for the control planes; choose another name',
      groups(group("cp"), group("control-plane", { role: "worker" })),
    ],
    [
      'tumblebug.groups[1].connection: is not known; did you mean "aws"?',
      groups(group("cp"), group("w", { connection: "awss" })),
    ],
    [
      'tumblebug.connections[1].name: "aws" is listed twice; remove one',
      section({ connections: [{ name: "aws" }, { name: "aws" }] }),
    ],
    [
      'tumblebug.connections[0].cidr: "10.244.0.0/24" overlaps cluster.network.podSubnet "10.244.0.0/16"; choose blocks that share no address',
      section({ connections: [{ name: "aws", cidr: "10.244.0.0/24" }] }),
    ],
    [
      'tumblebug.connections[1].cidr: "10.1.0.0/24" overlaps "10.1.0.0/16" of another connection; choose blocks that share no address',
      section({
        connections: [
          { name: "aws", cidr: "10.1.0.0/16" },
          { name: "gcp", cidr: "10.1.0.0/24" },
        ],
      }),
    ],
    [
      'tumblebug.connections[0].cidr: "10.1.0.0/29" has room for 3 machines and there are 4; write a larger block',
      section({
        connections: [{ name: "aws", cidr: "10.1.0.0/29" }],
        groups: [group("cp"), group("w", { replicas: 3 })],
      }),
    ],
    [
      'tumblebug.network.cidr: "10.96.0.0/16" overlaps cluster.network.serviceSubnet "10.96.0.0/12"; choose blocks that share no address',
      section({ network: { cidr: "10.96.0.0/16" } }),
    ],
    [
      'tumblebug.network.cidr: "10.21.0.0/24" has room for 1 connections (a /24 each) and there are 2; write a larger block',
      two({ nodeAddresses: "private", network: { cidr: "10.21.0.0/24" } }),
    ],
    [
      `tumblebug.groups[0].name: its machines are "ns1-${long}-${"cp"}-extra-1-1" and the like in the cloud, 69 characters, and clouds take 63; write shorter names`,
      section({ infrastructure: long, groups: [group("cp-extra", { role: "control-plane" }), group("w")] }),
    ],
    [
      'tumblebug.infrastructure: is missing, and cluster.name "1test" is not a name for Tumblebug; write lower-case letters, digits and dashes, with a letter first and no dash last',
      section(),
      { name: "1test" },
    ],
    [
      "tumblebug.access.nodes: is empty; list the public blocks that the nodes of the other connections come from, since they reach each other over the Internet",
      two(),
      { network: { plugin: { cilium: {} } } },
    ],
    [
      "tumblebug.nodeAddresses: the pod network flannel needs nodes on one private network, and nodes of several connections reach each other over the Internet; write cluster.network.plugin: {cilium: {}} or {calico: {}}, or `nodeAddresses: private` when the clouds' networks are joined",
      two({ access: { ssh: ["192.0.2.0/24"], api: [], nodes: ["192.0.2.0/24"] } }),
    ],
    [
      'tumblebug.access.ssh[0]: "0.0.0.0/0" allows every address; write the blocks that need access, or `access.open: true`',
      section({ access: { ssh: ["0.0.0.0/0"], api: [] } }),
    ],
    [
      "tumblebug.endpoint: loopback and nlb exclude each other; keep one",
      section({ endpoint: { loopback: {}, nlb: {} } }),
    ],
    [
      'tumblebug.replace.x-1: is not a machine; write <pool>-<index>; did you mean "w-1"?',
      section({ replace: { "x-1": 1 } }),
    ],
    [
      "cluster.ssh.requireHostKeys: is true, but nothing tells the host keys of CB-Tumblebug's VMs before the first contact; remove it, or create the VMs yourself and use the system ssh",
      section(),
      { ssh: { requireHostKeys: true } },
    ],
  ];
  for (const [said, tumblebug, cluster] of table)
    it(said, () => assert.deepEqual(issuesOf(reader(tumblebug, cluster)), [said]));

  it("accepts several connections on one private network with any pod network", () => {
    for (const plugin of [{ bridge: {} }, { flannel: {} }, { calico: {} }])
      loadConfiguration(reader(two({ nodeAddresses: "private" }), { network: { plugin } }));
  });

  it("refuses a section and credentials of another system", () => {
    const said = issuesOf(
      reader(section(), {}, { "foresail:system": "ssh", "foresail:tumblebugCredentials": "{}" }),
    );
    assert.ok(
      said.some((line) => line.startsWith('tumblebug: belongs to the system "tumblebug"')),
      said.join("\n"),
    );
  });

  it("keeps the credentials secret, and says what is missing in them without repeating them", async () => {
    const key = "foresail:tumblebugCredentials";
    const configuration = loadConfiguration(
      reader(section(), {}, { [key]: '{"username":"u","password":"p"}' }),
    );
    if (configuration.system !== "tumblebug" || !configuration.tumblebugCredentials) return assert.fail();
    const { tumblebugCredentials: secret } = configuration;
    assert.equal(await (secret as unknown as { isSecret: Promise<boolean> }).isSecret, true);
    assert.deepEqual(issuesOf(reader(section(), {}, { [key]: '{"username":"u"}' })), [
      "tumblebugCredentials.password: is missing; write a text, in quotes",
    ]);
  });

  for (const name of ["dev-seoul", "prod-two-clouds"])
    it(`the schema for editors accepts the example ${name}`, () => {
      const file = resolve(__dirname, "../../../../..", join("examples", "tumblebug", `Pulumi.${name}.yaml`));
      const valid = new Ajv({ strict: false }).compile(stackFileJsonSchema());
      assert.ok(valid(parse(readFileSync(file, "utf8"))), JSON.stringify(valid.errors));
    });
});
