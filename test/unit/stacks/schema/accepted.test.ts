import assert from "node:assert/strict";
import { generateKey } from "../../../../lib/ssh/generated-key";
import { loadConfiguration } from "../../../../stacks/schema";
import { issuesOf } from "./issues";
import { cloudReader, cluster, controlPlane, OPENSTACK, reader, TUMBLEBUG, worker } from "./valid";

const DAY = "2026-11-22 00:00:00 +0000 UTC";
const MOMENT = "2026-11-22 10:30:00 +0000 UTC";
const LONG = `${"a".repeat(100)}.${"b".repeat(152)}`;

const machinePool = (over: Record<string, unknown>) => ({
  ...reader(undefined, {
    "foresail:system": "machine-pool",
    "foresail:managementKubeconfig": "contexts: [{name: a}]",
    "foresail:machinePool": JSON.stringify({
      name: "workers",
      cluster: "prod",
      bootstrap: { dataSecretName: "join" },
      infrastructure: { apiVersion: "infrastructure.example.com/v1", kind: "Pool" },
      ...over,
    }),
  }),
  isSecret: (key: string) => key.endsWith("Kubeconfig"),
});

/** A machine pool has no key `cluster`, which the reader of the other tests always writes. */
function withoutCluster(configured: ReturnType<typeof machinePool>) {
  const { "foresail:cluster": _, ...values } = configured.values;
  return { ...configured, values };
}

function sshCluster(fields: Record<string, unknown>) {
  const loaded = loadConfiguration(reader(cluster(fields)));
  if (loaded.system !== "ssh") return assert.fail();
  return loaded.cluster;
}

describe("configuration: accepts", () => {
  it("any text as bootstrapRevision: a date, an integer, words", () => {
    for (const [written, read] of [
      ["second try, after the power cut", "second try, after the power cut"],
      [DAY, DAY],
      [2, "2"],
      ["", ""],
    ] as const)
      assert.equal(sshCluster({ bootstrapRevision: written }).bootstrapRevision, read);
    assert.deepEqual(issuesOf(reader(cluster({ bootstrapRevision: 1.3 }))), [
      "cluster.bootstrapRevision: was read as the number 1.3 (so is 1.30); put it in quotes",
    ]);
  });

  it("a date that Pulumi turned into a timestamp, where a version or a label accepts it", () => {
    const osPackages = (written: unknown) =>
      sshCluster({ rollout: { software: { osPackages: written } } }).rollout.software.osPackages;
    assert.equal(osPackages(DAY), "2026-11-22");
    assert.equal(osPackages(MOMENT), "2026-11-22T10:30:00Z");
    assert.equal(osPackages(20261122), "20261122");
    // quoted text stays as it is, or the state would differ
    assert.equal(osPackages("2026-11-22T00:00:00Z"), "2026-11-22T00:00:00Z");
    const { machines } = sshCluster({ machines: [controlPlane({ labels: { installed: DAY } })] });
    assert.deepEqual(machines[0]?.labels, { installed: "2026-11-22" });
    assert.deepEqual(
      issuesOf(reader(cluster({ machines: [controlPlane({ labels: { installed: MOMENT } })] }))),
      [
        'cluster.machines[0].labels.installed: "2026-11-22T10:30:00Z" is not a value of Kubernetes; write at most 63 letters, digits, dashes, dots and underscores, with a letter or digit at both ends; YAML read it as a date, so put what you meant in quotes',
      ],
    );
  });

  it("owners by number and modes with setgid", () => {
    for (const owner of ["1000:1000", "0", "65534:nogroup", "www-data:33", "Build.User:staff"])
      for (const mode of ["2755", "02755", "4750", "1777", "0644", "644"])
        assert.deepEqual(
          issuesOf(reader(cluster({ files: [{ path: "/opt/a", content: "", owner, mode }] }))),
          [],
        );
  });

  it("object names up to 253 characters where Kubernetes allows them", () => {
    const infrastructure = { apiVersion: "infrastructure.example.com/v1", kind: "Pool", name: LONG };
    for (const over of [
      { name: LONG },
      { infrastructure },
      { bootstrap: { dataSecretName: LONG } },
      { name: "a".repeat(253) },
    ])
      assert.deepEqual(issuesOf(withoutCluster(machinePool(over))), []);
    assert.deepEqual(issuesOf(withoutCluster(machinePool({ name: `${LONG}b` }))), [
      `machinePool.name: "${LONG.slice(0, 80)}…" has 254 characters; write at most 253`,
    ]);
  });

  it("valid values close to a refusal", () => {
    const good: [string, Record<string, unknown>][] = [
      [
        "null where it removes nothing of foresail's",
        { network: { plugin: { cilium: { values: { a: null } } } } },
      ],
      ["a part of ipam", { network: { plugin: { cilium: { values: { ipam: { operator: {} } } } } } }],
      ["another mode of ipam", { network: { plugin: { cilium: { values: { ipam: { mode: "eni" } } } } } }],
      [
        "extraArgs as a list",
        { kubeadm: { clusterConfiguration: { apiServer: { extraArgs: [{ name: "v", value: "4" }] } } } },
      ],
      [
        "a repeated argument",
        {
          kubeadm: {
            clusterConfiguration: {
              apiServer: {
                extraArgs: ["https://oidc.example.com", "https://kubernetes.default.svc.cluster.local"].map(
                  (value) => ({ name: "service-account-issuer", value }),
                ),
              },
            },
          },
        },
      ],
      [
        "another taint of a control plane",
        { machines: [controlPlane({ taints: [{ key: "a", effect: "NoSchedule" }] })] },
      ],
      ["the first port after the node ports", { endpoint: { loopback: { port: 32768 } } }],
      ["a control plane as the endpoint", { endpoint: { external: { host: "192.0.2.11" } } }],
      [
        "an API server behind a port forward",
        { machines: [controlPlane({ apiServer: "gate.example.com:30443" })] },
      ],
      ["a node of this cluster", { rollout: { pausedNodes: ["w-1"] } }],
      [
        "proxies and exceptions",
        {
          proxy: {
            http: "http://proxy.example.com:3128/",
            noProxy: ["*", ".example.com", "*.a.b", "10.0.0.0/8", "a:80", "fd00::/8", "a.b,c.d"],
          },
        },
      ],
      [
        "a file beside another",
        {
          files: [
            { path: "/opt/a", content: "" },
            { path: "/opt/a.d/b", content: "\u001b[1m" },
          ],
        },
      ],
      [
        "settings of the kernel in every form",
        {
          files: [
            {
              path: "/etc/sysctl.d/99-own.conf",
              content:
                "; own\n\n# own\nnet.ipv4.ip_forward=1\n-net/ipv4/conf/eth0.100/rp_filter = 0\n- net.ipv6.conf.all.forwarding\nkernel.core_pattern =\n",
            },
            // foresail's own file comes after it
            { path: "/etc/sysctl.d/10-own.conf", content: "net.ipv4.ip_forward = 0" },
          ],
        },
      ],
      [
        "files that the pods of a control plane have",
        {
          kubeadm: {
            clusterConfiguration: {
              apiServer: {
                extraArgs: [
                  { name: "audit-policy-file", value: "/etc/own/audit.yaml" },
                  { name: "tls-cert-file", value: "/etc/kubernetes/pki/own.crt" },
                  { name: "oidc-ca-file", value: "/usr/share/ca-certificates/own.crt" },
                  { name: "audit-log-path", value: "/var/log/audit.log" },
                ],
                extraVolumes: [{ name: "own", hostPath: "/etc/own", mountPath: "/etc/own/" }],
              },
              scheduler: { extraArgs: [{ name: "kubeconfig", value: "/etc/kubernetes/scheduler.conf" }] },
            },
          },
        },
      ],
      [
        "files that a patch of kubeadm may mount",
        {
          kubeadm: {
            clusterConfiguration: {
              apiServer: { extraArgs: [{ name: "audit-policy-file", value: "/etc/own/audit.yaml" }] },
            },
            initConfiguration: { patches: { directory: "/etc/own" } },
          },
        },
      ],
      [
        "a unit of its own",
        { files: [{ path: "/etc/systemd/system/kubelet.service.d/20-own.conf", content: "" }] },
      ],
    ];
    for (const [what, fields] of good) assert.deepEqual(issuesOf(reader(cluster(fields))), [], what);
    const { publicKey, key } = pair();
    const openstack = { ...OPENSTACK, keypair: { publicKey } };
    const paused = { rollout: { pausedNodes: ["w-2-0a1b2"] } };
    assert.deepEqual(
      issuesOf(cloudReader("openstack", openstack, paused, { "foresail:sshPrivateKey": key })),
      [],
    );
    const replaced = { ...TUMBLEBUG, replace: { "w-1": 1 } };
    assert.deepEqual(
      issuesOf(cloudReader("tumblebug", replaced, { rollout: { pausedNodes: ["w-1-r1"] } })),
      [],
    );
    assert.deepEqual(
      issuesOf(reader(cluster({ machines: [controlPlane(), worker({ name: "a".repeat(63) })] }))),
      [],
    );
  });
});

function pair() {
  const { public: publicKey, private: key } = generateKey({ comment: "somebody@example.com" });
  return { publicKey, key };
}
