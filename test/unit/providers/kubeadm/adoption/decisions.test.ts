import assert from "node:assert/strict";
import type {
  AdoptableCluster,
  AdoptableNode,
  InspectedMachine,
  MemberFacts,
} from "../../../../../providers/kubeadm/plan/adoption/adoption-facts";
import {
  clusterAdoptionSteps,
  adoptedEndpoint,
  membershipIssues,
  nodeIssues,
  refuseAdoptChange,
  settingIssues,
} from "../../../../../providers/kubeadm/plan/adoption/adoption";
import { staticPodsOf } from "../../../../../providers/kubeadm/plan/adoption/adoptable-cluster";
import { planMembership } from "../../../../../providers/kubeadm/plan/membership/plan";
import { clusterInitSteps } from "../../../../../providers/kubeadm/plan/steps";
import { adoptionIssues } from "../../../../../providers/kubeadm/plan/adoption/validation";
import { issueLines } from "../../../../../lib/validation/validation-issue";
import { exampleMachine, exampleSpecification } from "../machine/examples";
import { adoptableNode as node } from "./nodes";

const SOURCE = { bundle: { path: "/opt/bundle" } };
const member = (name: string, facts: Partial<MemberFacts> = {}): InspectedMachine => ({
  machine: exampleMachine(name),
  facts: {
    marker: "",
    authority: "a".repeat(64),
    machineId: `id-of-${name}`,
    addresses: [],
    system: "debian 12 x86_64",
    kubelet: "/usr/local/bin/kubelet",
    controlPlane: name.startsWith("cp"),
    ...facts,
  },
});
const made = {
  networking: { podSubnet: "10.244.0.0/16", serviceSubnet: "10.96.0.0/12", dnsDomain: "cluster.local" },
  controlPlaneEndpoint: "api.example.com:6443",
  imageRepository: "registry.k8s.io",
  apiServer: { extraArgs: [{ name: "profiling", value: "false" }] },
};
const cluster = (fields: Partial<AdoptableCluster> = {}): AdoptableCluster => ({
  nodes: [node("cp-1"), node("w-1")],
  systemPods: [],
  staticPods: [],
  clusterConfiguration: made,
  ...fields,
});
const specification = exampleSpecification({
  endpoint: { external: { host: "api.example.com", port: 6443 } },
  encryptSecretsAtRest: false,
});
const both = [member("cp-1"), member("w-1")];
const SELF = { id: "9a1c9c6e-3d0a-4a58-9f3e-0c8f7a5d1b42", stack: "org/shop/staging" };

describe("the machines of a cluster to adopt", () => {
  it("are accepted as members of one cluster, also when an earlier run claimed some of them", () => {
    assert.deepEqual(membershipIssues("demo", both, SELF), []);
    const claimed = member("w-1", { marker: "cluster=demo machine=w-1" });
    assert.deepEqual(membershipIssues("demo", [member("cp-1"), claimed], SELF), []);
    assert.deepEqual(nodeIssues(SOURCE, both, cluster().nodes), []);
  });

  const refused: [what: string, facts: Partial<MemberFacts>, message: RegExp][] = [
    ["no member", { authority: "" }, /^machines\[1\]: w-1: is not a member of a kubeadm.*then add it/],
    ["another cluster's", { authority: "b".repeat(64) }, /w-1: is a member of another cluster than cp-1/],
    [
      "of another system",
      { system: "rhel 9.4 x86_64" },
      /runs rhel 9\.4 x86_64; foresail supports Debian 12/,
    ],
    ["of another processor", { system: "debian 12 riscv64" }, /runs debian 12 riscv64/],
  ];
  for (const [what, facts, message] of refused)
    it(`are refused when one is ${what}`, () => {
      const lines = issueLines(membershipIssues("demo", [member("cp-1"), member("w-1", facts)], SELF));
      assert.equal(lines.length, 1);
      assert.match(lines[0] ?? "", message);
    });

  it("repeat no invisible characters of a marker", () => {
    const [line] = issueLines(membershipIssues("demo", [member("cp-1", { marker: "\u001b[2Kgone" })], SELF));
    assert.match(line ?? "", /\(\\u\{1b\}\[2Kgone\)/);
  });

  const mismatches: [what: string, machine: InspectedMachine, nodes: AdoptableNode[], line: RegExp][] = [
    [
      "whose Node has another name, with that name",
      member("w-1"),
      [node("cp-1"), node("rack-7", { machineId: "id-of-w-1" })],
      /^machines\[1\]\.name: the cluster has no Node w-1; write name: rack-7$/,
    ],
    [
      "that is not the Node of its name",
      member("w-1", { machineId: "id-of-w-2" }),
      [node("cp-1"), node("w-1")],
      /^machines\[1\]\.name: the Node w-1 is another machine/,
    ],
    [
      "with another role",
      member("w-1"),
      [node("cp-1"), node("w-1", { controlPlane: true })],
      /^machines\[1\]\.role: w-1 is a control plane of the cluster, not a worker$/,
    ],
    [
      "with another internal address",
      member("w-1"),
      [node("cp-1"), node("w-1", { internalAddress: "10.9.9.9" })],
      /^machines\[1\]\.internalAddress: .*; write internalAddress: 10\.9\.9\.9$/,
    ],
    [
      "with another container runtime",
      member("w-1"),
      [node("cp-1"), node("w-1", { runtime: "cri-o://1.30" })],
      /w-1: runs cri-o:\/\/1\.30; the node agent works with containerd/,
    ],
    [
      "for which kubeadm has the socket of another container runtime",
      member("w-1"),
      [node("cp-1"), node("w-1", { socket: "unix:///var/run/cri-dockerd.sock" })],
      /w-1: kubeadm calls .*"unix:\/\/\/var\/run\/cri-dockerd\.sock".*; run: kubectl annotate node w-1 --overwrite/,
    ],
    [
      "whose API server listens at another port",
      member("w-1", { apiServerPort: "7443", authorityFile: "/etc/kubernetes/pki/ca.crt" }),
      [node("cp-1"), node("w-1", { socket: "/var/run/containerd/containerd.sock" })],
      /^machines\[1\]: w-1: its API server listens at port 7443 \(--secure-port\), .*6443/,
    ],
    [
      "whose API server has its certificates in another folder",
      member("w-1", { apiServerPort: "6443", authorityFile: "/etc/kubernetes/ssl/ca.crt" }),
      [node("cp-1"), node("w-1", { socket: "unix:///run/containerd/containerd.sock" })],
      /^machines\[1\]: w-1: its API server reads its certificate authority from \/etc\/kubernetes\/ssl\/ca\.crt/,
    ],
    [
      "whose kubelet comes from another source",
      member("w-1", { kubelet: "/usr/bin/kubelet" }),
      [node("cp-1"), node("w-1")],
      /starts the kubelet \/usr\/bin\/kubelet, .*; write cluster\.source\.packages$/,
    ],
  ];
  for (const [what, machine, nodes, line] of mismatches)
    it(`are refused with a machine ${what}`, () => {
      const lines = issueLines(nodeIssues(SOURCE, [member("cp-1"), machine], nodes));
      assert.equal(lines.length, 1, lines.join("\n"));
      assert.match(lines[0] ?? "", line);
    });

  it("have to include every control plane, and not every worker", () => {
    const nodes = [...cluster().nodes, node("cp-2"), node("w-2")];
    assert.deepEqual(issueLines(nodeIssues(SOURCE, both, nodes)), [
      "machines: the cluster's control plane cp-2 must be in the list, too: versions change on all control planes",
    ]);
  });
});

describe("the settings of a cluster to adopt", () => {
  it("may be those that it was made with", () => {
    assert.deepEqual(settingIssues(specification, cluster()), []);
    const kubeadm = {
      clusterConfiguration: { apiServer: { extraArgs: [{ name: "profiling", value: "false" }] } },
    };
    assert.deepEqual(settingIssues({ ...specification, kubeadm }, cluster()), []);
  });

  const unfit: [what: string, made: Record<string, unknown>, line: RegExp][] = [
    [
      "in another folder",
      { certificatesDir: "/etc/kubernetes/ssl/" },
      /^adopt: .*certificatesDir: "\/etc\/kube/,
    ],
    [
      "of an external etcd",
      { etcd: { external: { endpoints: [] } } },
      /^adopt: the cluster has an external etcd/,
    ],
  ];
  for (const [what, made, line] of unfit)
    it(`are refused with certificates ${what}`, () => {
      const { clusterConfiguration, ...others } = cluster();
      const found = { ...others, clusterConfiguration: { ...clusterConfiguration, ...made } };
      const lines = issueLines(settingIssues(specification, found));
      assert.equal(lines.length, 1, lines.join("\n"));
      assert.match(lines[0] ?? "", line);
    });

  it("may name the usual folder of certificates", () => {
    const { clusterConfiguration, ...others } = cluster();
    for (const certificatesDir of ["/etc/kubernetes/pki", "/etc/kubernetes/pki/"]) {
      const found = { ...others, clusterConfiguration: { ...clusterConfiguration, certificatesDir } };
      assert.deepEqual(settingIssues(specification, found), []);
    }
  });

  it("are each refused with its path when they differ", () => {
    const other = exampleSpecification({
      network: {
        podCidr: "10.1.0.0/16",
        serviceCidr: "10.2.0.0/16",
        dnsDomain: "other.local",
        bridge: false,
      },
      imageRepository: "registry.example.com",
      kubeadm: {
        clusterConfiguration: { apiServer: { extraArgs: [{ name: "profiling", value: "true" }] } },
        initConfiguration: { skipPhases: ["addon/kube-proxy"] },
      },
      kubelet: { maxPods: 50 },
      kubeProxy: { mode: "ipvs" },
    });
    const paths = issueLines(settingIssues(other, cluster())).map((line) =>
      line.slice(0, line.indexOf(": ")),
    );
    assert.deepEqual(paths, [
      "network.podSubnet",
      "network.serviceSubnet",
      "network.dnsDomain",
      "endpoint",
      "imageRepository",
      "kubeadm.clusterConfiguration.apiServer.extraArgs",
      "kubelet.maxPods",
      "kubeProxy.mode",
      "kubeadm.initConfiguration",
    ]);
  });

  it("have to name the kubelets' cgroup driver if containerd on machines that join later would get another", () => {
    const lines = (own: Record<string, string>, cgroupDriver: string) =>
      issueLines(
        settingIssues({ ...specification, kubelet: own }, { ...cluster(), kubelet: { cgroupDriver } }),
      );
    assert.match(
      lines({}, "cgroupfs").join("\n"),
      /^kubelet\.cgroupDriver: is absent, .*"cgroupfs"; write that/,
    );
    assert.deepEqual(lines({ cgroupDriver: "cgroupfs" }, "cgroupfs"), []);
    assert.deepEqual(lines({}, "systemd"), []);
  });

  it("are refused for a cluster that kubeadm did not make", () => {
    const [line, ...others] = issueLines(
      settingIssues(specification, { nodes: [], systemPods: [], staticPods: [] }),
    );
    assert.match(line ?? "", /^adopt: the cluster has no ConfigMap kube-system\/kubeadm-config/);
    assert.deepEqual(others, []);
  });

  it("come with the static pods that kubeadm did not make, each once, and not with pods of controllers", () => {
    const pod = (name: string, nodeName: string, annotations?: Record<string, string>) => ({
      metadata: { name, ...(annotations && { annotations }) },
      spec: { nodeName },
    });
    const mirror = { "kubernetes.io/config.mirror": "hash" };
    const pods = [
      ...["cp-1", "cp-2"].flatMap((plane) =>
        ["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kube-vip"].map((name) =>
          pod(`${name}-${plane}`, plane, mirror),
        ),
      ),
      pod("haproxy-w-1", "w-1", mirror),
      pod("kube-vip-ds-x7", "w-1", { other: "" }),
      pod("kube-proxy-x7", "w-1"),
    ];
    assert.deepEqual(staticPodsOf(pods), ["haproxy", "kube-vip"]);
    assert.deepEqual(staticPodsOf([{}]), []);
  });

  it("name the only control plane as the endpoint of a cluster without controlPlaneEndpoint", () => {
    const { controlPlaneEndpoint: _, ...without } = made;
    assert.equal(adoptedEndpoint(cluster({ clusterConfiguration: without })), "10.0.0.11:6443");
    const nodes = ["cp-1", "cp-2", "cp-3"].map((name) => node(name));
    assert.equal(adoptedEndpoint(cluster({ clusterConfiguration: without, nodes })), undefined);
    const named = cluster({ clusterConfiguration: { controlPlaneEndpoint: "vip" } });
    assert.equal(adoptedEndpoint(named), "vip:6443");
  });

  it("are those of a cluster that keeps its network plugin and its encryption", () => {
    const lines = (settings: Parameters<typeof adoptionIssues>[0]) => issueLines(adoptionIssues(settings));
    const none = { plugin: { none: {} } };
    assert.deepEqual(lines({ adopt: true, encryptSecretsAtRest: false, network: none }), []);
    assert.equal(lines({ adopt: true, network: { plugin: { flannel: {} } } }).length, 2);
    assert.match(lines({ network: none })[0] ?? "", /^network\.plugin\.none: is for an adopted cluster/);
    assert.match(lines({ resetOnDestroy: true })[0] ?? "", /^resetOnDestroy: is for an adopted cluster/);
    assert.deepEqual(lines({ network: { plugin: { flannel: {} } } }), []);
  });

  it("can't turn a cluster that foresail made into an adopted one, or back", () => {
    assert.equal(refuseAdoptChange(undefined, true), undefined);
    assert.equal(refuseAdoptChange(true, true), undefined);
    assert.match(refuseAdoptChange(false, true) ?? "", /foresail made this cluster/);
    assert.match(refuseAdoptChange(true, false) ?? "", /put `adopt: true` back/);
  });
});

describe("the preview of an adoption", () => {
  it("has one step for each machine, which is parsed as it was formatted", () => {
    const machines = both.map(({ machine }) => machine);
    const steps = [...clusterAdoptionSteps(machines, cluster()), ...clusterAdoptionSteps(machines)];
    const lines = steps.map(clusterInitSteps.format);
    assert.deepEqual(lines, [
      "cp-1: adopt as control plane of the cluster at api.example.com:6443, Kubernetes 1.35.4",
      "w-1: adopt as worker of the cluster at api.example.com:6443, Kubernetes 1.35.4",
      "cp-1: adopt as control plane of the cluster",
      "w-1: adopt as worker of the cluster",
    ]);
    assert.deepEqual(lines.map(clusterInitSteps.parse), steps);
  });

  it("labels the Nodes of adopted machines, and joins only a machine that was added later", () => {
    const observed = ["w-1", "w-2"].map((name) => ({
      name,
      controlPlane: false,
      ready: true,
      version: "1.36.3",
      internalAddress: exampleMachine(name).internalAddress,
      labels: {},
      taints: [],
      ownedLabels: [],
      ownedTaints: [],
      unschedulable: false,
    }));
    const desired = [exampleMachine("w-1"), exampleMachine("w-2")];
    const { steps } = planMembership({
      ...{ group: "workers", desired, recorded: [], lost: [], observed },
      adopted: ["w-1"],
    });
    const kinds = steps.map((step) => [step.kind, "machine" in step ? step.machine : ""]);
    // the Node of an interrupted join has no label either
    assert.deepEqual(kinds, [
      ["join", "w-2"],
      ["spreadDns", ""],
      ["settings", "w-1"],
    ]);
  });
});
