import assert from "node:assert/strict";
import type {
  AdoptableCluster,
  AdoptableNode,
  MemberFacts,
} from "../../../../../providers/kubeadm/plan/adoption/adoption-facts";
import type { MatchedMachine } from "../../../../../providers/kubeadm/plan/adoption/adoption-facts";
import { draftAdoption } from "../../../../../providers/kubeadm/plan/adoption/adoption-draft";
import { UNIT_FILE } from "../../../../../providers/kubeadm/plan/hardening/private-files";
import { withDerivedSettings } from "../../../../../providers/kubeadm/plan/hardening/profile";
import { planRelease } from "../../../../../providers/kubeadm/plan/adoption/release";
import { exampleSpecification } from "../machine/examples";
import { adoptableNode as node } from "./nodes";

const matched = (each: AdoptableNode, facts: Partial<MemberFacts> = {}): MatchedMachine => ({
  node: each,
  address: each.internalAddress,
  port: 22,
  hostKey: `ssh-ed25519 ${each.name}`,
  facts: {
    marker: "",
    authority: "a",
    machineId: each.machineId,
    addresses: [],
    system: "ubuntu 24.04 x86_64",
    kubelet: "/usr/bin/kubelet",
    controlPlane: each.controlPlane,
    ...facts,
  },
});
const cluster = (nodes: AdoptableNode[], over: Partial<AdoptableCluster> = {}): AdoptableCluster => ({
  nodes,
  systemPods: ["calico-node-x7", "kube-vip-cp-1"],
  staticPods: ["haproxy", "kube-vip"],
  clusterConfiguration: {
    kubernetesVersion: "v1.36.3",
    controlPlaneEndpoint: "api.example.com:6443",
    networking: { podSubnet: "10.233.64.0/18", serviceSubnet: "10.96.0.0/12", dnsDomain: "cluster.local" },
    apiServer: {
      extraVolumes: [{ name: "audit", hostPath: "/etc/kubernetes/audit.yaml", mountPath: "/audit" }],
    },
  },
  kubeProxy: {},
  ...over,
});
const draft = (
  nodes: AdoptableNode[],
  over: Partial<AdoptableCluster> = {},
  machines = nodes.map((each) => matched(each)),
) =>
  draftAdoption({
    name: "old",
    cluster: cluster(nodes, over),
    matched: machines,
    user: "admin",
    apiServer: "203.0.113.1:6443",
  });

describe("the stack file that adopts a cluster", () => {
  it("has the cluster's own settings, its machines with their pools and pinned host keys, and nothing by default", () => {
    const { cluster: written, refusals } = draft([node("cp-1"), node("w-1", { roles: ["worker", "gpu"] })]);
    assert.deepEqual(refusals, []);
    assert.deepEqual(written, {
      name: "old",
      version: "1.36.3",
      adopt: true,
      encryptSecretsAtRest: false,
      source: { packages: { repository: "https://pkgs.k8s.io/core:/stable:/v{minor}/deb/" } },
      ssh: { user: "admin" },
      endpoint: { external: { host: "api.example.com", port: 6443 } },
      network: { podSubnet: "10.233.64.0/18", plugin: { none: {} } },
      machines: [
        {
          name: "cp-1",
          role: "control-plane",
          address: "10.0.0.11",
          hostKey: "ssh-ed25519 cp-1",
          apiServer: "203.0.113.1:6443",
        },
        { name: "w-1", role: "worker", pool: "worker", address: "10.0.0.101", hostKey: "ssh-ed25519 w-1" },
      ],
    });
  });

  it("comes with a note on each thing that it can't say, in printable characters", () => {
    const nodes = [node("cp-1"), node("w-1", { version: "1.36.3" }), node("w-\u202e2")];
    const { notes } = draft(
      nodes,
      {},
      nodes.slice(0, 2).map((each) => matched(each)),
    );
    assert.deepEqual(notes, [
      "network plugin (calico): it stays, and foresail does not manage it",
      "static pods that kubeadm did not write (haproxy, kube-vip): they stay; a control plane that joins later has none, so copy their manifests to it after the join",
      "files that the control planes mount (/etc/kubernetes/audit.yaml): they stay; a control plane that joins later needs them under `files`",
      "versions (1.35.4, 1.36.3): the first `up` brings every Node to 1.36.3",
      "Node w-\\u{202e}2: not in the file; nothing is done to it, and versions don't change on it",
      "labels, taints, containerd's configuration, kubelet flags: they stay on the machines that are adopted",
    ]);
  });

  it("comes with a note on control planes whose certificates don't name the address at which foresail reaches them", () => {
    const nodes = [node("cp-1"), node("cp-2"), node("cp-3"), node("w-1")];
    const apiServer = { certSANs: ["203.0.113.2"] };
    const reached = (count: number) =>
      nodes
        .filter(({ controlPlane }, index) => !controlPlane || index < count)
        .map((each, index) => ({
          ...matched(each),
          address: index === 2 ? each.internalAddress : `203.0.113.${index + 1}`,
        }));
    const notes = (count: number) =>
      draft(nodes, { clusterConfiguration: { apiServer } }, reached(count)).notes.filter((line) =>
        line.startsWith("API servers"),
      );
    assert.deepEqual(notes(1), []);
    assert.match(
      notes(3).join("\n"),
      /^API servers \(cp-1 at 203\.0\.113\.1\): the certificates .* don't name/,
    );
  });

  it("names the kubelets' cgroup driver if it is not foresail's, for containerd on machines that join later", () => {
    for (const [cgroupDriver, written] of [
      ["systemd", undefined],
      ["cgroupfs", { cgroupDriver: "cgroupfs" }],
    ] as const)
      assert.deepEqual(draft([node("cp-1")], { kubelet: { cgroupDriver } }).cluster.kubelet, written);
  });

  it("names a bundle for programs in /usr/local/bin, and accepts two control planes that exist", () => {
    const nodes = [node("cp-1"), node("cp-2")];
    const { cluster: written } = draft(
      nodes,
      {},
      nodes.map((each) => matched(each, { kubelet: "/usr/local/bin/kubelet" })),
    );
    assert.deepEqual(written.source, { bundle: { path: "/opt/foresail/bundle/v{version}" } });
    assert.equal(written.allowEvenControlPlanes, true);
  });

  const refused: [what: string, over: Partial<AdoptableCluster>, line: RegExp][] = [
    [
      "that kubeadm did not make",
      { clusterConfiguration: undefined },
      /^adopt: the cluster has no ConfigMap kube-system\/kubeadm-config/,
    ],
    [
      "with two IP families",
      { clusterConfiguration: { networking: { podSubnet: "10.1.0.0/16,fd00::/48" } } },
      /^adopt: the cluster has two IP families \(networking\.podSubnet\)/,
    ],
    [
      "with external etcd",
      { clusterConfiguration: { etcd: { external: {} } } },
      /^adopt: the cluster has an external etcd/,
    ],
    [
      "with certificates in another folder",
      { clusterConfiguration: { certificatesDir: "/etc/kubernetes/ssl" } },
      /^adopt: .*certificatesDir: "\/etc\/kubernetes\/ssl", and foresail works with \/etc\/kubernetes\/pki/,
    ],
  ];
  for (const [what, over, line] of refused)
    it(`says that an up is refused for a cluster ${what}`, () => {
      const { refusals } = draft([node("cp-1"), node("w-1")], over);
      assert.equal(refusals.length, 1, refusals.join("\n"));
      assert.match(refusals[0] ?? "", line);
    });

  it("names what the first rollout would take away, and offers a patch for the kubelet of one machine", () => {
    const nodes = [node("cp-1"), node("w-1")];
    const at = (object: string, current: object, rendered: object, isOfCluster = false) => ({
      ...{ object, isOfCluster, current, rendered: [rendered] },
    });
    const pod = at(
      "the static pod kube-apiserver",
      { hostNetwork: true, dnsPolicy: "None" },
      { hostNetwork: true },
    );
    const dns = at("the Deployment coredns", { labels: { a: 1 } }, {}, true);
    const kubelet = at("/var/lib/kubelet/config.yaml", { maxPods: 250, a: { b: "1" } }, { a: { b: "1" } });
    const [plane, worker] = nodes.map((each) => matched(each)) as [MatchedMachine, MatchedMachine];
    const drafted = draft(nodes, {}, [
      { ...plane, rewritten: { objects: [pod, dns] } },
      { ...worker, rewritten: { objects: [kubelet] } },
    ]);
    assert.deepEqual(
      drafted.notes.filter((line) => /rollout of versions|static pods: /.test(line)),
      [
        "cp-1: the first rollout of versions removes dnsPolicy of the static pod kube-apiserver",
        "the cluster: the first rollout of versions removes labels.a of the Deployment coredns",
        "w-1: the first rollout of versions removes maxPods of /var/lib/kubelet/config.yaml",
        "static pods: to keep their settings, put them into the ConfigMap kubeadm-config (extraArgs, extraVolumes, extraEnvs), where upgrades find them",
      ],
    );
    assert.deepEqual(drafted.offers.slice(1), [
      "w-1: /etc/kubernetes/patches/kubeletconfiguration0+merge.yaml",
      "  maxPods: 250",
    ]);
    const unread = draft(nodes, {}, [
      plane,
      { ...worker, rewritten: { unread: "kubeadm: \u001bnot found" } },
    ]);
    assert.ok(
      unread.notes.includes(
        "w-1: what kubeadm would write again could not be read: kubeadm: \\u{1b}not found",
      ),
    );
    assert.deepEqual(unread.offers, []);
  });

  it("is refused when a machine is not the Node's", () => {
    const other = matched(node("w-1"), { machineId: "another" });
    const { refusals } = draft([node("cp-1"), node("w-1")], {}, [matched(node("cp-1")), other]);
    assert.match(refusals.join("\n"), /the Node w-1 is another machine/);
  });
});

describe("the release of a stack", () => {
  const init = (outputs: Record<string, unknown>) => [
    { type: "NodeGroup", outputs: {} },
    { type: "ClusterInit", outputs: { machines: [{ name: "cp-1" }, { name: "w-2" }], ...outputs } },
  ];
  const refusalOf = (resources: Parameters<typeof planRelease>[0]) => {
    const plan = planRelease(resources);
    return "refusal" in plan ? plan.refusal : "";
  };

  it("lists each machine, and says what stays on one that foresail prepared", () => {
    const specification = exampleSpecification();
    const plan = planRelease(init({ adopt: { annotations: "a" }, adopted: ["cp-1"], specification }));
    assert.ok("lines" in plan);
    assert.match(plan.lines[0] ?? "", /^cp-1: .*; Kubernetes stays as it is$/);
    assert.match(plan.lines[1] ?? "", /^w-2: .*; what foresail prepared it with stays/);
    assert.equal(plan.lines.length, 4);
  });

  it("lists what stays of the settings that the stack changed, and how to have them undone", () => {
    const hardened = withDerivedSettings(
      exampleSpecification({ kubelet: { maxPods: 90 }, caBundle: "PEM" }),
      {
        profile: "cis",
      },
    );
    const linesOf = (outputs: Record<string, unknown>) => {
      const plan = planRelease(init({ adopt: { annotations: "a" }, adopted: ["cp-1"], ...outputs }));
      return "lines" in plan ? plan.lines.slice(4) : [];
    };
    const lines = linesOf({ specification: hardened, configuration: { baseline: {}, removed: [] } });
    assert.equal(lines[0], "cluster: keeps the stack's settings: profile cis, kubeadm, kubelet");
    for (const { path } of hardened.files) assert.ok(lines[1]?.includes(path), path);
    assert.equal(lines[2], "machines: keep caBundle");
    assert.ok(lines[3]?.startsWith(`machines: ${UNIT_FILE} sets kernel settings`));
    assert.match(lines[4] ?? "", /^to have the cluster's own values back/);
    assert.equal(lines.length, 5);

    const proxied = exampleSpecification({ kubeProxy: { mode: "ipvs" }, caBundle: "PEM" });
    assert.deepEqual(
      linesOf({ specification: proxied }).slice(0, -1),
      ["cluster: keeps the stack's settings: kubeProxy"],
      "no machine has another configuration",
    );
    assert.deepEqual(linesOf({ specification: exampleSpecification() }), []);
    assert.deepEqual(linesOf({ specification: { ciphertext: "…" } }), [
      "cluster: keeps the settings that the stack changed",
    ]);
  });

  it("is refused for a cluster that a destroy would reset, and for a stack without one", () => {
    assert.match(refusalOf(init({})), /foresail made this cluster/);
    assert.match(
      refusalOf(init({ adopt: { annotations: "a", reset: true } })),
      /resetOnDestroy is in the stack's state/,
    );
    assert.match(refusalOf([]), /no kubeadm cluster/);
  });
});
