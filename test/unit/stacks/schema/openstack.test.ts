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

const PUBLIC_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f";
const controlPlanes = (over: Fields = {}): Fields => ({
  name: "cp",
  role: "control-plane",
  replicas: 1,
  flavor: "m1",
  image: "debian",
  ...over,
});
const workers = (over: Fields = {}): Fields => ({ ...controlPlanes(), name: "w", role: "worker", ...over });

/** The smallest valid section, with some fields replaced. */
const section = (over: Fields = {}): Fields => ({
  network: { externalNetwork: "public" },
  keypair: { publicKey: PUBLIC_KEY },
  access: { ssh: ["192.0.2.0/24"], api: ["192.0.2.0/24"] },
  pools: [controlPlanes(), workers()],
  ...over,
});

const reader = (openstack: unknown, cluster?: Fields, others?: Record<string, string>) =>
  cloudReader("openstack", openstack, cluster, others);

const pools = (...list: Fields[]) => section({ pools: list });
const network = (over: Fields) => section({ network: over });

describe("configuration: the system openstack", () => {
  it("accepts the smallest section and sets the defaults", () => {
    const configuration = loadConfiguration(reader(section()));
    assert.equal(configuration.system, "openstack");
    if (configuration.system !== "openstack") return;
    const { endpoint, network: found, cloudProvider, pools: list } = configuration.openstack;
    assert.deepEqual(endpoint, { loopback: {} });
    assert.deepEqual(found, { cidr: "10.20.0.0/24", dnsNameservers: [], externalNetwork: "public" });
    assert.deepEqual(cloudProvider, {
      enabled: true,
      cloudConf: {},
      cloudControllerManager: { values: {} },
      cinder: { enabled: true, values: {} },
    });
    assert.deepEqual(
      [list[1]?.replacementsPerRun, list[1]?.antiAffinity, list[1]?.floatingIp],
      [1, "soft", false],
    );
  });

  const table: [said: string, openstack: unknown, cluster?: Fields][] = [
    ["openstack: is missing; examples/openstack/ shows a complete one", undefined],
    ['openstack.clod: is not known; did you mean "cloud"?', section({ clod: "eu1" })],
    [
      'cluster.machines: is not for the system "openstack"; write the machines under foresail:openstack',
      section(),
      { machines: [] },
    ],
    [
      'cluster.endpoint: is not for the system "openstack"; write it under foresail:openstack',
      section(),
      { endpoint: { loopback: {} } },
    ],
    ['openstack.pools: no pool has the control planes; give one the role "control-plane"', pools(workers())],
    [
      "openstack.pools[1].role: pools[0] has the control planes already; make this one a worker pool, or raise the replicas there",
      pools(controlPlanes(), controlPlanes({ name: "cp2" })),
    ],
    [
      "openstack.pools[0].replicas: 2 control planes tolerate no more failures than 1; use 1 or 3",
      pools(controlPlanes({ replicas: 2 })),
    ],
    [
      "openstack.pools[0].replacementsPerRun: control planes are replaced one at a time; remove it",
      pools(controlPlanes({ replacementsPerRun: 2 })),
    ],
    [
      'openstack.pools[1].name: "cp" is listed twice; remove one',
      pools(controlPlanes(), workers({ name: "cp" })),
    ],
    [
      'openstack.pools[1].name: "control-plane" is reserved for the control planes; choose another name',
      pools(controlPlanes(), workers({ name: "control-plane" })),
    ],
    [
      "openstack.pools[1].flavor: is missing; write a text",
      pools(controlPlanes(), workers({ flavor: undefined })),
    ],
    [
      "openstack.pools[1].rootVolume.sizeGiB: is 0; write 1 or more",
      pools(controlPlanes(), workers({ rootVolume: { sizeGiB: 0 } })),
    ],
    [
      'openstack.cloudProvider.repository: "ftp://charts.example.com" is not an https or http or oci URL; write e.g. "https://host.example.com/path"',
      section({ cloudProvider: { repository: "ftp://charts.example.com" } }),
    ],
    [
      "openstack.cloudProvider.cloudConf.Global.password: would be stored in plain text; write foresail:cloudApplicationCredential",
      section({ cloudProvider: { cloudConf: { Global: { password: "pa$$word" } } } }),
    ],
    [
      'openstack.cloudProvider.cloudConf.LoadBalancer["lb provider"]: is not a setting of cloud.conf; write e.g. "lb-provider"',
      section({ cloudProvider: { cloudConf: { LoadBalancer: { "lb provider": "ovn" } } } }),
    ],
    [
      'openstack.cloudProvider.cinder.version: "2.35" is not the version of a chart; write it exactly, e.g. "1.18.2"',
      section({ cloudProvider: { cinder: { version: "2.35" } } }),
    ],
    [
      'openstack.cloudProvider.cinder.enable: is not known; did you mean "enabled"?',
      section({ cloudProvider: { cinder: { enable: false } } }),
    ],
    [
      'openstack.pools[1].role: "node" is not a role; write "control-plane" or "worker"',
      pools(controlPlanes(), workers({ role: "node" })),
    ],
    [
      "openstack.network.externalNetwork: is missing; write the name of the network that leads outside (`openstack network list --external`), or the `id` of a network that exists",
      network({}),
    ],
    [
      "openstack.network.dnsNameservers: belongs to the network that exists; remove it, or the `id`",
      network({ id: "n1", dnsNameservers: ["192.0.2.53"] }),
    ],
    [
      'openstack.network.cidr: "10.244.8.0/24" overlaps cluster.network.podSubnet "10.244.0.0/16"; choose blocks that share no address',
      network({ cidr: "10.244.8.0/24", externalNetwork: "public" }),
    ],
    [
      'openstack.network.cidr: "10.20.0.0/29" has room for 3 machines, and with those that a replacement adds there are 4; write a larger block',
      network({ cidr: "10.20.0.0/29", externalNetwork: "public" }),
    ],
    [
      "openstack.pools[0].floatingIp: floating IPs come from an external network; write `network.externalNetwork`",
      section({ network: { id: "n1", cidr: "10.20.0.0/24" }, pools: [controlPlanes({ floatingIp: true })] }),
    ],
    [
      "openstack.endpoint.octavia.floatingIp: floating IPs come from an external network; write `network.externalNetwork`",
      section({ network: { id: "n1" }, endpoint: { octavia: { floatingIp: true } } }),
    ],
    [
      "openstack.endpoint: loopback and octavia exclude each other; keep one",
      section({ endpoint: { loopback: {}, octavia: {} } }),
    ],
    [
      'openstack.replace.v-1: is not a machine; write <pool>-<index>; did you mean "w-1"?',
      section({ replace: { "v-1": 1 } }),
    ],
    [
      'openstack.access.ssh[0]: "0.0.0.0/0" allows every address; write the blocks that need access, or `access.open: true`',
      section({ access: { ssh: ["0.0.0.0/0"], api: [] } }),
    ],
    ["openstack.access.api: is missing; write a list", section({ access: { ssh: ["192.0.2.0/24"] } })],
    [
      'openstack.access.api[0]: "192.0.2.7/24" does not start its block; write "192.0.2.0/24"',
      section({ access: { ssh: ["192.0.2.0/24"], api: ["192.0.2.7/24"] } }),
    ],
    [
      'openstack.keypair.publicKey: is not a public SSH key; write the line of a .pub file, "ssh-ed25519 AAAA…"',
      section({ keypair: { publicKey: "ops@example.com" } }),
    ],
    [
      "openstack.keypair.publicKey: is a private key; write the public one, and replace the key that was shown",
      section({ keypair: { publicKey: "-----BEGIN OPENSSH PRIVATE KEY-----" } }),
    ],
  ];
  for (const [said, openstack, cluster] of table)
    it(`says: ${said}`, () => assert.deepEqual(issuesOf(reader(openstack, cluster)), [said]));

  it("opens ports to everyone when configured so", () => {
    const open = section({ access: { ssh: ["0.0.0.0/0"], api: ["0.0.0.0/0"], open: true } });
    assert.deepEqual(issuesOf(reader(open)), []);
  });

  it("compares pools of a rollout with the pools", () => {
    const said = issuesOf(reader(section(), { rollout: { pools: { wrkers: { paused: true } } } }));
    assert.equal(said.length, 1);
    assert.match(said[0]!, /^cluster\.rollout\.pools\.wrkers: /);
  });

  it("belongs to its own system", () => {
    const others = {
      "foresail:system": "ssh",
      "foresail:cluster": JSON.stringify({
        name: "test",
        version: "1.36.3",
        machines: [{ name: "cp-1", address: "192.0.2.1", role: "control-plane" }],
      }),
    };
    assert.deepEqual(issuesOf(reader(section(), {}, others)), [
      'openstack: belongs to the system "openstack"; remove it, or write foresail:system: openstack',
    ]);
  });

  it("accepts an application credential as a secret, and reports what is wrong with it without its value", () => {
    const given = (value: unknown) => ({ "foresail:cloudApplicationCredential": JSON.stringify(value) });
    assert.deepEqual(issuesOf(reader(section(), {}, given({ id: "a", secret: "hunter2" }))), []);
    assert.deepEqual(issuesOf(reader(section(), {}, given({ id: "a", secrt: "hunter2" }))), [
      "cloudApplicationCredential.secret: is missing; write a text, in quotes",
      'cloudApplicationCredential.secrt: is not known; did you mean "secret"?',
    ]);
    const plain = { ...reader(section(), {}, given({ id: "a", secret: "hunter2" })), isSecret: () => false };
    assert.match(issuesOf(plain)[0]!, /^cloudApplicationCredential: is not encrypted; /);
  });

  it("gives editors the same rules", () => {
    const validate = new Ajv({ allowUnionTypes: true }).compile(stackFileJsonSchema());
    const file = resolve(__dirname, "../../../../..", join("examples", "openstack", "Pulumi.prod-eu1.yaml"));
    const example = parse(readFileSync(file, "utf8")) as { config: Fields };
    assert.equal(validate(example), true, JSON.stringify(validate.errors));
    const without = (key: string) => ({
      config: Object.fromEntries(Object.entries(example.config).filter(([name]) => name !== key)),
    });
    assert.equal(validate(without("foresail:openstack")), false);
    assert.equal(validate(without("foresail:system")), false);
  });
});
