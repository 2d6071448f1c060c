import assert from "node:assert/strict";
import { generateKey } from "../../../../lib/ssh/generated-key";
import { issuesOf, refuses, type RefusedInputs } from "./issues";
import { cluster, cloudReader, controlPlane, HOST_KEY, OPENSTACK, reader, TUMBLEBUG, worker } from "./valid";

const files = (...paths: string[]) => cluster({ files: paths.map((path) => ({ path, content: "" })) });
const proxy = (value: unknown) => cluster({ proxy: value });
const software = (osPackages: unknown) => cluster({ rollout: { software: { osPackages } } });

const KEY =
  "contains a private key, which would be stored and shown in plain text; remove it, and replace the key that was shown";
const NUL =
  "contains a NUL character or half of a character, which no file, program or Kubernetes object takes; remove it";
const openstack = (over: Record<string, unknown>, of: Record<string, unknown> = {}) =>
  cloudReader("openstack", { ...OPENSTACK, ...over }, of);
const tumblebug = (over: Record<string, unknown>, of: Record<string, unknown> = {}) =>
  cloudReader("tumblebug", { ...TUMBLEBUG, ...over }, of);
const pool = (name: string, over: Record<string, unknown> = {}) => ({ ...OPENSTACK.pools[1], name, ...over });
const group = (name: string, over: Record<string, unknown> = {}) => ({
  ...TUMBLEBUG.groups[1],
  name,
  ...over,
});
const pools = (...list: unknown[]) => openstack({ pools: [OPENSTACK.pools[0], ...list] });
const groups = (...list: unknown[]) => tumblebug({ groups: [TUMBLEBUG.groups[0], ...list] });
const access = (over: Record<string, unknown>) => ({ access: { ...OPENSTACK.access, ...over } });
const pem = generateKey().private;
const slow = (count: number) =>
  `${count} control planes would slow down etcd, in which each of them is a member; use 3, or at most 7, and workers for pods`;
const planes = (count: number, over: Record<string, unknown> = {}) =>
  cluster({
    machines: Array.from({ length: count }, (_, index) =>
      controlPlane({ name: `cp-${index}`, address: `192.0.2.${index + 11}` }),
    ),
    ...over,
  });

/** Wrong inputs by the class that they are of; each is refused with exactly this line. */
const TABLE: RefusedInputs = {
  "more control planes than etcd is made for": [
    [`cluster.machines: ${slow(9)}`, planes(9)],
    [`cluster.machines: ${slow(9)}`, planes(9, { allowEvenControlPlanes: true })],
    [
      `openstack.pools[0].replicas: ${slow(9)}`,
      openstack({ pools: [{ ...OPENSTACK.pools[0], replicas: 9 }, OPENSTACK.pools[1]] }),
    ],
    [
      `tumblebug.groups[0].replicas: ${slow(9)}`,
      tumblebug({ groups: [{ ...TUMBLEBUG.groups[0], replicas: 9 }, TUMBLEBUG.groups[1]] }),
    ],
  ],
  "a private key in plain text": [
    [
      "openstack.userData: contains a private key, which every program on the server and everyone who reads the state could see; bring it to the machine another way",
      openstack({ userData: `#cloud-config\n${pem}` }),
    ],
    [
      "openstack.userData: contains a private key, which every program on the server and everyone who reads the state could see; bring it to the machine another way",
      openstack({ userData: `content: ${Buffer.from(pem).toString("base64")}` }),
    ],
    [
      "cluster.files[0].content: contains a private key, which would be stored and shown in plain text; bring it to the machine another way",
      cluster({ files: [{ path: "/etc/key", content: pem }] }),
    ],
    [
      `cluster.network.plugin.flannel.values.tls.key: ${KEY}`,
      cluster({ network: { plugin: { flannel: { values: { tls: { key: pem } } } } } }),
    ],
    [`cluster.bootstrapRevision: ${KEY}`, cluster({ bootstrapRevision: pem })],
  ],
  "a first contact, although host keys are required": [
    [
      "cluster.machines[1].hostKey: is missing, and `ssh.requireHostKeys` allows no first contact; copy it from /etc/ssh/ssh_host_ed25519_key.pub on the machine",
      cluster({ machines: [controlPlane({ hostKey: HOST_KEY }), worker()], ssh: { requireHostKeys: true } }),
    ],
  ],
  "a public key that is another one's, cut, or private": [
    [
      "openstack.keypair.publicKey: is not the public half of foresail:sshPrivateKey, so that no new machine would let foresail in; write the line that this prints: ssh-keygen -y -f FILE",
      cloudReader("openstack", OPENSTACK, {}, { "foresail:sshPrivateKey": pem }),
    ],
    [
      "openstack.keypair.publicKey: is a cut or mistyped public key; copy the whole line of the .pub file again",
      openstack({ keypair: { publicKey: OPENSTACK.keypair.publicKey.slice(0, -12) } }),
    ],
    [
      "openstack.keypair.publicKey: is a private key; write the public one, and replace the key that was shown",
      openstack({ keypair: { publicKey: pem } }),
    ],
  ],
  "a version of the packages that the node agent refuses": [
    "2026_11",
    "v2026-11",
    "a b",
    "-1",
    "../x",
    "",
    "x".repeat(64),
    "é",
  ].map((text) => [
    `cluster.rollout.software.osPackages: ${JSON.stringify(text)} is not a version; write at most 63 letters, digits, dots, dashes, plus signs, colons and tildes, with a letter other than "v" or a digit first`,
    software(text),
  ]),
  "a file that can't be written there": [
    ...[
      "/",
      "/etc",
      "/etc/",
      "/etc/kubernetes",
      "/usr/local/bin",
      "/opt/x/",
      "/etc/systemd/system",
      "/root",
    ].map((path): [string, Record<string, unknown>] => [
      `cluster.files[0].path: "${path}" is a folder; write the path of a file in it, e.g. "${path.replace(/\/$/, "")}/name.conf"`,
      files(path),
    ]),
    [
      'cluster.files[0].path: "/etc/containerd/config.toml" may not be written: foresail writes it; use cluster.registries',
      files("/etc/containerd/config.toml"),
    ],
    [
      'cluster.files[0].path: "/etc/foresail/machine" may not be written: foresail writes it',
      files("/etc/foresail/machine"),
    ],
    [
      'cluster.files[0].path: "/proc/sys/vm/swappiness" may not be written: the kernel\'s own file systems keep no files',
      files("/proc/sys/vm/swappiness"),
    ],
    [
      'cluster.files[1].path: "/opt/a/b" is below files[0], "/opt/a", which is a file and not a folder; choose another path',
      files("/opt/a", "/opt/a/b"),
    ],
    [
      'cluster.files[0].path: "/opt/a/b/c" is below files[1], "/opt/a", which is a file and not a folder; choose another path',
      files("/opt/a/b/c", "/opt/a"),
    ],
    [
      'cluster.files[0].path: "/opt/a\\n/etc/passwd" contains a line break; remove it',
      files("/opt/a\n/etc/passwd"),
    ],
    [
      `cluster.files[0].path: "/opt/${"a".repeat(75)}…" is longer than a path may be; write at most 4000 characters, and 240 bytes between two slashes`,
      files(`/opt/${"a".repeat(241)}`),
    ],
    [
      'cluster.files[0].owner: "1000:4294967295" is not an owner; write "user", "user:group" or "uid:gid"',
      cluster({ files: [{ path: "/opt/a", content: "", owner: "1000:4294967295" }] }),
    ],
  ],
  "a proxy that would break out of its quotes": [
    ...[
      "http://a.example.com/$(id)",
      "http://a.example.com/'",
      "http://a.example.com/%n",
      "http://a.example.com/;x",
    ].map((url): [string, Record<string, unknown>] => [
      `cluster.proxy.http: ${JSON.stringify(url)} is not the address of a proxy; write scheme, host and port, e.g. "http://proxy.example.com:3128"`,
      proxy({ http: url }),
    ]),
    ...[
      'http://a.example.com/";Dir "/',
      "http://a.example.com/\nEnvironment=x",
      "http://a.example.com/\\",
      "http://a.example.com/\u001b",
    ].map((url): [string, Record<string, unknown>] => [
      `cluster.proxy.https: ${JSON.stringify(url)} is not a URL; write e.g. "https://host.example.com/path"`,
      proxy({ https: url }),
    ]),
    ...['a"', "a\nb", "a b", "%n", "a;b", "$HOME", ""]
      .filter((host) => host !== "")
      .map((host): [string, Record<string, unknown>] => [
        `cluster.proxy.noProxy[0]: ${JSON.stringify(host)} is not a host, domain or block; write e.g. "git.example.com", ".example.com" or "10.0.0.0/8", one in each entry`,
        proxy({ noProxy: [host] }),
      ]),
  ],
  "access that admits no one, or lists a block twice": [
    ["openstack.access.ssh: is empty; list at least one", openstack(access({ ssh: [] }))],
    ["tumblebug.access.ssh: is empty; list at least one", tumblebug(access({ ssh: [] }))],
    [
      'openstack.access.ssh[1]: "192.0.2.0/24" is listed twice; remove one',
      openstack(access({ ssh: ["192.0.2.0/24", "192.0.2.0/24"] })),
    ],
    [
      'tumblebug.access.nodePorts[1]: "192.0.2.0/24" is listed twice; remove one',
      tumblebug(access({ nodePorts: ["192.0.2.0/24", "192.0.2.0/24"] })),
    ],
    [
      'openstack.network.dnsNameservers[1]: "192.0.2.53" is listed twice; remove one',
      openstack({ network: { externalNetwork: "public", dnsNameservers: ["192.0.2.53", "192.0.2.53"] } }),
    ],
  ],
  "groups whose numbered names collide": [
    [
      'tumblebug.groups[2].name: "w-1" is the name of a machine of groups[1] too; choose another name',
      groups(group("w"), group("w-1")),
    ],
    [
      'tumblebug.groups[0].name: "w-2" is the name of a machine of groups[1] too; choose another name',
      tumblebug({ groups: [{ ...TUMBLEBUG.groups[0], name: "w-2" }, group("w")] }),
    ],
    [
      'tumblebug.groups[2].name: "w-1-r3" is the name of a machine of groups[1] too; choose another name',
      tumblebug({ groups: [...TUMBLEBUG.groups, group("w-1-r3")], replace: { "w-1": 3 } }),
    ],
  ],
  "a label that Kubernetes refuses": [
    [
      'openstack.pools[1].labels.a: "b c" is not a value of Kubernetes; write at most 63 letters, digits, dashes, dots and underscores, with a letter or digit at both ends',
      pools(pool("w", { labels: { a: "b c" } })),
    ],
    [
      `tumblebug.groups[1].labels.a: "${"x".repeat(64)}" is not a value of Kubernetes; write at most 63 letters, digits, dashes, dots and underscores, with a letter or digit at both ends`,
      groups(group("w", { labels: { a: "x".repeat(64) } })),
    ],
  ],
  "a number that nothing has so many of": [
    ["openstack.pools[1].replicas: is 1000000000; write 1000 or less", pools(pool("w", { replicas: 1e9 }))],
    [
      "openstack.pools[1].replicas: is 9007199254740991; write 1000 or less",
      pools(pool("w", { replicas: Number.MAX_SAFE_INTEGER })),
    ],
    [
      "openstack.pools[1].replacementsPerRun: is 4000000000; write 100 or less",
      pools(pool("w", { replacementsPerRun: 4e9 })),
    ],
    [
      "tumblebug.groups[1].replicas: is 1000000000; write 1000 or less",
      groups(group("w", { replicas: 1e9 })),
    ],
    [
      "openstack.pools: has 5001 entries; write at most 200",
      openstack({
        pools: [
          OPENSTACK.pools[0],
          ...Array.from({ length: 5000 }, (_, index) => pool(`w${index}`, { replicas: 0 })),
        ],
      }),
    ],
  ],
  "a text that no file, program or object takes": [
    ...["\0", "\ud800"].flatMap((character): [string, Record<string, unknown>][] => [
      [
        `cluster.files[0].content: ${NUL}`,
        cluster({ files: [{ path: "/opt/a", content: `a${character}` }] }),
      ],
      [`cluster.bootstrapRevision: ${NUL}`, cluster({ bootstrapRevision: character })],
      [
        `cluster.rollout.gate.command: ${NUL}`,
        cluster({ rollout: { gate: { command: `true${character}` } } }),
      ],
      [`cluster.kubelet.clusterDNS[0]: ${NUL}`, cluster({ kubelet: { clusterDNS: [character] } })],
    ]),
    [
      'cluster.network.plugin.chart.chart: "-rf" begins with a dash; write the name of a chart, e.g. "cilium"',
      cluster({ network: { plugin: { chart: { chart: "-rf", repository: "https://charts.example.com" } } } }),
    ],
    [
      'tumblebug.lost[0]: "a b" is not a DNS label; write lower-case letters, digits and dashes, with a letter or digit at both ends',
      tumblebug({ lost: ["a b"] }),
    ],
  ],
  "a path that takes long to look at": [
    [
      `cluster.files[0].path: "${"/a".repeat(40)}…" is longer than a path may be; write at most 4000 characters, and 240 bytes between two slashes`,
      files("/a".repeat(100_000)),
    ],
  ],
  "an image repository with a tag": [
    [
      'cluster.imageRepository: "registry.example.com/k8s:v1" is not an image repository; write registry and path without a tag, e.g. "registry.example.com/kubernetes"',
      cluster({ imageRepository: "registry.example.com/k8s:v1" }),
    ],
  ],
  "a nesting or a name that no program takes": [
    [
      "cluster.kubelet.a.a.a.a.a.a: is nested more than 64 levels deep; write fewer",
      reader(undefined, { "foresail:cluster": `{"kubelet":${'{"a":'.repeat(50_000)}1${"}".repeat(50_001)}` }),
    ],
    [
      "cluster.kubelet.__proto__: is not a name that JavaScript accepts; remove it",
      reader(undefined, {
        "foresail:cluster": JSON.stringify(cluster({ kubelet: { x: 1 } })).replace('"x"', '"__proto__"'),
      }),
    ],
    [
      'cluster.lost[0]: "../w" is not the name of a Node; write lower-case letters, digits, dashes and dots, with a letter or digit at both ends of each part',
      cluster({ lost: ["../w"] }),
    ],
    [
      'cluster.ignorePreflightErrors[0]: "a,b" is not the name of a preflight check; write it as kubeadm prints it in brackets, e.g. "NumCPU"',
      cluster({ ignorePreflightErrors: ["a,b"] }),
    ],
    [
      'openstack.pools[1].image: "a\\nb" contains a line break; remove it',
      pools(pool("w", { image: "a\nb" })),
    ],
    [
      'tumblebug.groups[1].spec: " t3" begins or ends with a space; remove it',
      groups(group("w", { spec: " t3" })),
    ],
  ],
};

refuses(TABLE);

describe("configuration: refuses", () => {
  it("a namespace that is almost the project's, whichever key it has", () => {
    for (const namespace of ["forsail", "foresial", "Foresail", "foresails", "foreseil", "FORESAIL"])
      assert.deepEqual(issuesOf(reader(cluster(), { [`${namespace}:sshPrivateKey`]: "x" })), [
        `["${namespace}:sshPrivateKey"]: is not read, since the namespace is not "foresail"; did you mean "foresail:sshPrivateKey"?`,
      ]);
    for (const key of [
      "aws:region",
      "openstack:cloud",
      "kubernetes:cluster",
      "pulumi:disable-default-providers",
    ])
      assert.deepEqual(issuesOf(reader(cluster(), { [key]: "x" })), []);
  });
});
