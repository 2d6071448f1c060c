import assert from "node:assert/strict";
import {
  refuseAddressChange,
  refuseJoinSettings,
  refuseSpecificationChange,
} from "../../../../../providers/kubeadm/plan/configuration/immutables";
import type { ClusterSpecification } from "../../../../../providers/kubeadm/plan/cluster/specification";
import type { ObservedNode } from "../../../../../providers/kubeadm/plan/membership/nodes";
import { UNKNOWN } from "../../../../../lib/unknown";
import { exampleMachine, exampleSpecification } from "./examples";

type Change = Partial<ClusterSpecification>;

const running = exampleSpecification();
const propertiesOf = (refusals: { property: string }[]) => refusals.map(({ property }) => property);
const refused = (change: Change, olds: ClusterSpecification = running) =>
  propertiesOf(refuseSpecificationChange(olds, { ...olds, ...change }));

describe("what can't change on a running cluster", () => {
  it("has the name of the network plugin where the state has it", () => {
    const plugins = (olds?: string, news?: string) =>
      refuseSpecificationChange(running, running, { olds, news }).map(
        ({ property, reason }) => `${property}: ${reason.replace(/: .*/, "")}`,
      );
    assert.deepEqual(plugins("cilium", "calico"), [
      'cluster.network.plugin: is "cilium" and can\'t become "calico"',
    ]);
    assert.deepEqual(plugins("cilium", "cilium"), []);
    assert.deepEqual(plugins(undefined, "calico"), []);
  });

  const { network } = running;
  const cases: [Change, string[], RegExp][] = [
    [{ name: "other" }, ["cluster.name"], /is marked with it/],
    [{ endpoint: { external: { host: "h", port: 1 } } }, ["cluster.endpoint"], /own forwarder/],
    [
      { network: { ...network, podCidr: "10.0.0.0/8" } },
      ["cluster.network.podSubnet"],
      /pods have addresses/,
    ],
    [
      { network: { ...network, serviceCidr: "10.0.0.0/8" } },
      ["cluster.network.serviceSubnet"],
      /Services and/,
    ],
    [
      { network: { ...network, dnsDomain: "k8s.example" } },
      ["cluster.network.dnsDomain"],
      /have names in it/,
    ],
    [{ network: { ...network, bridge: false } }, ["cluster.network.plugin"], /network of the old plugin/],
    [{ encryptSecretsAtRest: false }, ["cluster.encryptSecretsAtRest"], /Secrets that are in etcd/],
    [
      { kubelet: { cgroupDriver: "cgroupfs" } },
      ["cluster.kubelet.cgroupDriver"],
      /kubelet and containerd must/,
    ],
    [
      {
        kubeadm: {
          clusterConfiguration: {
            apiServer: { certSANs: ["a"], extraArgs: [{ name: "tls-cert-file", value: "/etc/own.crt" }] },
          },
        },
      },
      ["cluster.kubeadm.clusterConfiguration.apiServer.certSANs"],
      /certificate that foresail does not write/,
    ],
    [
      { kubeadm: { initConfiguration: { skipPhases: ["addon/kube-proxy"] } } },
      ["cluster.kubeadm.initConfiguration.skipPhases"],
      /only "kubeadm init" reads it/,
    ],
    [
      { kubeadm: { clusterConfiguration: { etcd: { local: { dataDir: "/a" } } } } },
      ["cluster.kubeadm.clusterConfiguration.etcd.local.dataDir"],
      /finds its data/,
    ],
    [
      { kubeadm: { clusterConfiguration: { etcd: { local: { imageTag: "3.7.0" } } } } },
      ["cluster.kubeadm.clusterConfiguration.etcd.local.imageTag"],
      /another image only with another version/,
    ],
    [
      { kubeadm: { clusterConfiguration: { etcd: "a" } } },
      ["cluster.kubeadm.clusterConfiguration.etcd"],
      /finds its data/,
    ],
    [
      { kubeadm: { clusterConfiguration: { certificatesDir: "/etc/pki" } } },
      ["cluster.kubeadm.clusterConfiguration.certificatesDir"],
      /certificates at the old path/,
    ],
    [
      { kubeadm: { clusterConfiguration: { dns: { imageTag: "1" } } } },
      ["cluster.kubeadm.clusterConfiguration.dns"],
      /edit the Deployment kube-system\/coredns/,
    ],
    [
      { kubeadm: { clusterConfiguration: { featureGates: { A: true } } } },
      ["cluster.kubeadm.clusterConfiguration.featureGates"],
      /only when a cluster is created/,
    ],
    [
      { imageRepository: "registry.example.org/k8s" },
      ["cluster.imageRepository"],
      /registries\.mirrors changes/,
    ],
    [
      { network: { ...network, holdNodeAddress: true } },
      ["cluster.network.holdNodeAddress"],
      /addresses of etcd's members/,
    ],
  ];
  for (const [change, properties, why] of cases)
    it(`refuses ${JSON.stringify(change)} by its path and with its own reason`, () => {
      assert.deepEqual(refused(change), properties);
      const [refusal] = refuseSpecificationChange(running, { ...running, ...change });
      assert.match(refusal!.reason, why);
      assert.match(refusal!.reason, /: .*(set it back|put the old value back), or make a new cluster/);
    });

  const etcd = (list: string, name: string): Change => ({
    kubeadm: { clusterConfiguration: { etcd: { local: { [list]: [{ name, value: "hunter2" }] } } } },
  });
  for (const name of [
    ..."name data-dir wal-dir config-file listen-client-urls listen-metrics-urls advertise-client-urls".split(
      " ",
    ),
    ..."initial-cluster initial-cluster-state initial-advertise-peer-urls force-new-cluster auto-tls".split(
      " ",
    ),
    ..."cert-file key-file trusted-ca-file client-cert-auth peer-cert-file peer-trusted-ca-file".split(" "),
    ..."peer-client-cert-auth peer-cert-allowed-cn peer-auto-tls discovery-token".split(" "),
  ])
    it(`refuses ${name} of etcd, by which members are found, as an argument and as a variable`, () => {
      const variable = `ETCD_${name.toUpperCase().replaceAll("-", "_")}`;
      const at = "cluster.kubeadm.clusterConfiguration.etcd.local";
      assert.deepEqual(refused(etcd("extraArgs", name)), [`${at}.extraArgs.${name}`]);
      assert.deepEqual(refused(etcd("extraEnvs", variable)), [`${at}.extraEnvs.${variable}`]);
      const [refusal] = refuseSpecificationChange(running, { ...running, ...etcd("extraArgs", name) });
      assert.match(refusal!.reason, /finds its data, its peers and its certificates/);
      assert.doesNotMatch(refusal!.reason, /hunter2/);
    });

  for (const name of "quota-backend-bytes auto-compaction-retention snapshot-count heartbeat-interval election-timeout tls-min-version cipher-suites log-level".split(
    " ",
  ))
    it(`accepts ${name} of etcd`, () => {
      assert.deepEqual(refused(etcd("extraArgs", name)), []);
    });

  it("accepts other names for certificates that kubeadm writes", () => {
    const apiServer = { certSANs: ["a"], extraArgs: [{ name: "tls-min-version", value: "VersionTLS13" }] };
    assert.deepEqual(refused({ kubeadm: { clusterConfiguration: { apiServer } } }), []);
    assert.deepEqual(refused({ certificateNames: ["k8s.example.org"] }), []);
    const elsewhere = { certificatesDir: "/etc/theirs" };
    const olds = { ...running, kubeadm: { clusterConfiguration: elsewhere } };
    const at = "cluster.kubeadm.clusterConfiguration.apiServer.certSANs";
    assert.deepEqual(refused({ kubeadm: { clusterConfiguration: { ...elsewhere, apiServer } } }, olds), [at]);
  });

  it("names every field at once", () => {
    const change = { imageRepository: "r.example.org", kubelet: { cgroupDriver: "cgroupfs", maxPods: 2 } };
    assert.deepEqual(refused(change), ["cluster.imageRepository", "cluster.kubelet.cgroupDriver"]);
  });

  it("refuses other settings of a kube-proxy that kubeadm did not install", () => {
    const olds = { ...running, kubeadm: { initConfiguration: { skipPhases: ["addon/kube-proxy"] } } };
    const [refusal] = refuseSpecificationChange(olds, { ...olds, kubeProxy: { mode: "nftables" } });
    assert.equal(refusal?.property, "cluster.kubeProxy.mode");
    assert.match(refusal.reason, /did not install kube-proxy/);
  });

  it("accepts what reaches the nodes by other steps, and anything before there is a cluster", () => {
    const packages = { packages: { repository: "https://pkgs.example.org/{minor}/" } };
    const change = { version: "1.36.4", source: packages, ignorePreflightErrors: ["Swap"] };
    assert.deepEqual(refused({ ...change, kubeadm: { joinConfiguration: { skipPhases: ["a"] } } }), []);
    const news = exampleSpecification({ version: "1.30.0", kubelet: { maxPods: 1 } });
    assert.deepEqual(refuseSpecificationChange(undefined, news), []);
  });

  it("treats a field that the state does not have as its default, however the default is written", () => {
    const older = { ...running } as Partial<ClusterSpecification>;
    for (const field of ["kubelet", "kubeProxy", "kubeadm", "files", "registryMirrors"] as const)
      delete older[field];
    const news: ClusterSpecification = {
      ...running,
      kubeadm: { clusterConfiguration: {}, initConfiguration: {}, joinConfiguration: {} },
      certificateNames: [],
      network: { ...network, holdNodeAddress: false },
      caBundle: undefined,
    };
    assert.deepEqual(refuseSpecificationChange(older as ClusterSpecification, news), []);
  });

  it("leaves a value that is not known yet to the run", () => {
    assert.deepEqual(refused({ imageRepository: UNKNOWN }), []);
  });

  it("shows no value in a reason", () => {
    const kubeadm = {
      clusterConfiguration: { etcd: { local: { extraArgs: [{ name: "data-dir", value: "hunter2" }] } } },
    };
    const refusals = refuseSpecificationChange(running, { ...running, kubeadm });
    assert.equal(refusals.length, 1);
    assert.doesNotMatch(JSON.stringify(refusals), /hunter2/);
  });
});

describe("what can't change for machines that have joined", () => {
  const other = exampleSpecification({ kubeadm: { joinConfiguration: { skipPhases: ["preflight"] } } });
  for (const [joined, controlPlanes, isRefused] of [
    [0, false, false],
    [1, false, true],
    // kubeadm init made the first control plane
    [1, true, false],
    [2, true, true],
  ] as const)
    it(`another joinConfiguration with ${joined} joined ${controlPlanes ? "control planes" : "workers"}: refused ${isRefused}`, () => {
      const group = { members: ["a", "b"].slice(0, joined), controlPlanes };
      const refusals = refuseJoinSettings(running, other, group);
      const expected = isRefused ? ["cluster.kubeadm.joinConfiguration.skipPhases"] : [];
      assert.deepEqual(propertiesOf(refusals), expected);
      for (const { reason } of refusals) assert.match(reason, /only "kubeadm join" reads it/);
      assert.deepEqual(refuseJoinSettings(running, running, group), []);
      assert.deepEqual(refuseJoinSettings(undefined, other, group), []);
    });

  const joinConfiguration = { skipPhases: ["preflight"], patches: { directory: "/etc/patches" } };
  const both = exampleSpecification({ kubeadm: { joinConfiguration } });
  for (const [members, refusedFields] of [
    [[], []],
    // its node agent uses the patches
    [["cp-1"], ["patches"]],
    [
      ["cp-1", "cp-2"],
      ["patches", "skipPhases"],
    ],
  ] as const)
    it(`another joinConfiguration of a cluster that was adopted with cp-1, and has ${members.join(", ") || "no member"}: refuses ${refusedFields.join(", ") || "nothing"}`, () => {
      for (const controlPlanes of [true, false]) {
        const refusals = refuseJoinSettings(running, both, { members, controlPlanes, adopted: ["cp-1"] });
        const expected = refusedFields.map((field) => `cluster.kubeadm.joinConfiguration.${field}`);
        assert.deepEqual(propertiesOf(refusals), expected);
        assert.ok(
          refusals.every(
            ({ property, reason }) => property.endsWith("patches") === /its patches/.test(reason),
          ),
        );
      }
    });

  const w1 = exampleMachine("w-1");
  const moved = { ...w1, internalAddress: "10.0.9.9" };
  const nodeAt = (internalAddress: string) => [{ name: "w-1", internalAddress } as ObservedNode];
  it("refuses another internal address of a Node, and names both remedies", () => {
    const [refusal] = refuseAddressChange([w1], [moved], nodeAt(w1.internalAddress));
    assert.equal(refusal?.property, "machines[0].internalAddress");
    assert.match(
      refusal.reason,
      /of w-1 is "10\.0\.0\.101".*write internalAddress: 10\.0\.0\.101, or take the machine out/,
    );
    assert.equal(refuseAddressChange([w1], [moved], undefined).length, 1);
  });
  it("accepts it for a machine that is no Node, is new, or has the address already", () => {
    assert.deepEqual(refuseAddressChange([w1], [moved], []), []);
    assert.deepEqual(refuseAddressChange([], [moved], nodeAt(w1.internalAddress)), []);
    assert.deepEqual(refuseAddressChange([w1], [moved], nodeAt("10.0.9.9")), []);
    assert.deepEqual(refuseAddressChange([w1], [{ ...w1, internalAddress: UNKNOWN }], undefined), []);
  });
});
