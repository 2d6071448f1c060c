import assert from "node:assert/strict";
import fc from "fast-check";
import { issueLines } from "../../../../lib/validation/validation-issue";
import { quoted } from "../../../../lib/text/quote";
import { loadConfiguration, type ConfigurationReader } from "../../../../stacks/schema";
import { issuesOf } from "./issues";
import { cloudReader, cluster, controlPlane, OPENSTACK, reader, TUMBLEBUG, worker } from "./valid";

const file = (mode: unknown) => cluster({ files: [{ path: "/opt/a", content: "", mode }] });

describe("configuration: messages", () => {
  it("show the original text where YAML read a number", () => {
    const table: [string, unknown][] = [
      ['cluster.files[0].mode: 0600 was read as the number 384; put it in quotes: "0600"', file(0o600)],
      ['cluster.files[0].mode: 0755 was read as the number 493; put it in quotes: "0755"', file(0o755)],
      ['cluster.files[0].mode: 644 was read as a number; put it in quotes: "0644"', file(644)],
      [
        'cluster.files[0].mode: is the number 9, not a file mode; write it in octal and in quotes, e.g. "0600"',
        file(9),
      ],
      [
        'cluster.version: was read as the number 1.3 (so is 1.30); write all three parts in quotes, e.g. "1.37.2"',
        cluster({ version: 1.3 }),
      ],
      [
        'cluster.rollout.intermediateVersions[0]: was read as the number 1.35 (so is 1.350); write all three parts in quotes, e.g. "1.37.2"',
        cluster({ rollout: { intermediateVersions: [1.35] } }),
      ],
      [
        "cluster.machines[1].labels.a: was read as the number 1.1 (so is 1.10); put it in quotes",
        cluster({ machines: [controlPlane(), worker({ labels: { a: 1.1 } })] }),
      ],
      ["cluster.name: was read as the number 7; put it in quotes", cluster({ name: 7 })],
    ];
    for (const [said, value] of table) assert.deepEqual(issuesOf(reader(value)), [said]);
  });

  it("list twenty issues at once, and count the others", () => {
    const machines = Array.from({ length: 500 }, (_, index) =>
      worker({
        name: `W_${index}`,
        address: `a-${index}`,
        internalAddress: `10.1.${index >> 8}.${index & 255}`,
      }),
    );
    const said = issuesOf(
      reader(cluster({ machines: [controlPlane(), ...machines], network: { podSubnet: "10.128.0.0/11" } })),
    );
    assert.equal(said.length, 21);
    assert.equal(said[20], "and 480 more");
    assert.throws(
      () =>
        loadConfiguration(
          reader(
            cluster({ machines: [controlPlane(), ...machines], network: { podSubnet: "10.128.0.0/11" } }),
          ),
        ),
      /^Error: Pulumi.dev.yaml has 500 validation issues; nothing was changed:/,
    );
  });

  it("ignore keys of an unknown system, since the system decides their meaning", () => {
    for (const wrong of ["opnstack", "kubernetes", "", "x".repeat(10_000)]) {
      const said = issuesOf(
        cloudReader("openstack", { pools: 1 }, { name: "" }, { "foresail:system": wrong }),
      );
      assert.equal(said.length, 1, said.join("\n"));
      assert.match(said[0]!, /^system: ".*" is not a system; (did you mean "openstack"\?|write "ssh" or )/);
    }
  });

  it("quote at most 80 characters as JSON, and no secret", () => {
    assert.equal(quoted('a"b\\c'), '"a\\"b\\\\c"');
    assert.equal(quoted("é\u202e\u001b[31m\u009b"), '"é\\u{202e}\\u001b[31m\\u{9b}"');
    assert.equal(quoted("x".repeat(81)), `"${"x".repeat(80)}…"`);
    assert.equal(quoted(`${"x".repeat(79)}😀`), `"${"x".repeat(79)}…"`);
    for (const secret of ["-----BEGIN PRIVATE KEY-----", "http://u:hunter2@a", "u:hunter2@a"])
      assert.equal(quoted(secret), "the value");
  });

  it("repeat no value of a secret key, whatever it contains", () => {
    const keys = ["sshPrivateKey", "sshPrivateKeys", "registryCredentials"];
    const values = [
      "hunter2",
      '{"cp-1":"hunter2"}',
      '{"r.example.com":{"username":"hunter2","password":1}}',
      '["hunter2"]',
      '{"u:hunter2@r.example.com":{}}',
    ];
    for (const key of keys)
      for (const value of values) {
        const said = issuesOf(reader(cluster(), { [`foresail:${key}`]: value })).join("\n");
        assert.notEqual(said, "");
        assert.ok(!said.includes("hunter2"), said);
      }
  });
});

/** What users, programs and attackers put where something else belongs. */
const odd = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    "",
    "\u0000",
    "\u001b[31m",
    "\r\nx",
    "\u202e",
    "\ud800",
    "NaN",
    "__proto__",
    [],
    {},
    [[]],
  ),
  fc.constantFrom<unknown>("x".repeat(100_000), -1, 0, 1.5, 1e308, 9007199254740991, true, [null], {
    a: null,
  }),
  fc.constantFrom<unknown>(
    JSON.parse('{"__proto__":{"x":1}}'),
    JSON.parse('{"constructor":{"prototype":1}}'),
  ),
  fc.string({ unit: "binary", maxLength: 200 }),
  fc.jsonValue(),
);

/** Every path to a value below an object, as deep as the schemas go. */
function paths(value: unknown, at: (string | number)[] = []): (string | number)[][] {
  const below = Array.isArray(value)
    ? value.flatMap((one, index) => paths(one, [...at, index]))
    : typeof value === "object" && value !== null
      ? Object.entries(value).flatMap(([key, one]) => paths(one, [...at, key]))
      : [];
  return at.length === 0 ? below : [at, ...below];
}

function replaced(value: unknown, [key, ...rest]: readonly (string | number)[], by: unknown): unknown {
  if (key === undefined) return by;
  const copy = (Array.isArray(value) ? [...(value as unknown[])] : { ...(value as object) }) as Record<
    string,
    unknown
  >;
  copy[key] = replaced(copy[key], rest, by);
  return copy;
}

/** A cluster with every kind of field. */
const FULL = {
  ...cluster(),
  machines: [
    controlPlane({
      labels: { a: "b" },
      taints: [{ key: "a", effect: "NoSchedule" }],
      apiServer: "192.0.2.11:6443",
      user: "ops",
      port: 22,
    }),
    worker({ pool: "gpu", hostKey: OPENSTACK.keypair.publicKey, internalAddress: "10.1.0.2" }),
  ],
  lost: ["w-9"],
  ssh: { user: "ops", port: 22, jumpHost: { address: "192.0.2.1", hostKey: OPENSTACK.keypair.publicKey } },
  source: { bundle: { path: "/opt/bundle/{version}" } },
  endpoint: { external: { host: "lb.example.com", port: 6443 } },
  network: {
    podSubnet: "10.244.0.0/16",
    serviceSubnet: "10.96.0.0/12",
    dnsDomain: "cluster.local",
    plugin: { cilium: { version: "1.18.2", values: { ipam: { mode: "kubernetes" } } } },
  },
  kubeadm: {
    clusterConfiguration: { apiServer: { extraArgs: [{ name: "v", value: "4" }], certSANs: ["a"] } },
    joinConfiguration: { nodeRegistration: { taints: [{ key: "a" }] } },
  },
  kubelet: { systemReserved: { cpu: "1" } },
  files: [{ path: "/opt/a", content: "x", mode: "0600", owner: "root:root" }],
  proxy: { http: "http://a.example.com", noProxy: ["b"] },
  registries: { mirrors: { "docker.io": ["https://m.example.com"] } },
  imageRepository: "registry.example.com/k8s",
  ignorePreflightErrors: ["Swap"],
  drain: { timeoutSeconds: 1 },
  rollout: {
    maxUnavailable: "25%",
    pools: { gpu: { paused: true } },
    pausedNodes: ["w-1"],
    gate: { url: "https://a.example.com" },
    stopAfter: "2h",
    software: { containerd: "1.7.1", osPackages: "2026-01" },
    annotations: "alpha.[software].caos.ch",
  },
  bootstrapRevision: "x",
};
const FULL_OPENSTACK = {
  ...OPENSTACK,
  replace: { "w-1": 1 },
  cloudProvider: { cloudConf: { LoadBalancer: { "lb-provider": "ovn" } } },
  userData: "#cloud-config",
  endpoint: { octavia: { floatingIp: true } },
};
const FULL_TUMBLEBUG = {
  ...TUMBLEBUG,
  replace: { "w-1": 1 },
  lost: ["w-9"],
  connections: [{ name: "aws", cidr: "10.1.0.0/24" }],
  endpoint: { nlb: { port: 6443 } },
};

const SUBJECTS: [value: object, read: (value: unknown) => ConfigurationReader][] = [
  [FULL, (value) => reader(value)],
  [FULL_OPENSTACK, (value) => cloudReader("openstack", value)],
  [FULL_TUMBLEBUG, (value) => cloudReader("tumblebug", value)],
];

const CONTROL = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

describe("configuration: properties of messages", () => {
  it("accepts the full examples from which the next test starts", () => {
    for (const [value, read] of SUBJECTS) assert.deepEqual(issuesOf(read(value)), []);
  });

  it("any value in any place is accepted or refused in at most 21 short lines, without a control character", function () {
    this.timeout(120_000);
    const ref = fc
      .constantFrom(...SUBJECTS)
      .chain(([value, read]) =>
        fc.tuple(fc.constantFrom(...paths(value)), fc.constant(value), fc.constant(read)),
      );
    fc.assert(
      fc.property(ref, odd, ([path, value, read], by) => {
        try {
          loadConfiguration(read(replaced(value, path, by)));
        } catch (error) {
          const lines = (error as Error).message.split("\n");
          assert.match(lines[0]!, /^Pulumi\.dev\.yaml has \d+ validation issues?; nothing was changed:$/);
          assert.ok(lines.length <= 22, lines.join("\n"));
          for (const line of lines) {
            assert.ok(line.length <= 1700, line);
            assert.doesNotMatch(line, CONTROL);
          }
        }
      }),
      { numRuns: 2000 },
    );
  });

  it("lines of issues are bounded and printable whatever paths and messages are", () => {
    const issue = fc.record({
      path: fc.array(fc.oneof(fc.string({ unit: "binary" }), fc.nat())),
      message: fc.string({ unit: "binary", maxLength: 5000 }),
    });
    fc.assert(
      fc.property(fc.array(issue, { maxLength: 60 }), (issues) => {
        const lines = issueLines(issues);
        assert.ok(lines.length <= 21);
        for (const line of lines) assert.doesNotMatch(line, CONTROL);
      }),
    );
  });
});
