import assert from "node:assert/strict";
import { readdirSync, rmSync } from "node:fs";
import {
  adoptionSettingsScript,
  parseSettingFacts,
  settingsData,
} from "../../../../../providers/kubeadm/machine/adoption/adoption-steps";
import {
  adoptedChange,
  adoptedConfiguration,
  changesEtcdSettings,
  changesMachines,
  machineSettingIssues,
  mergedObjects,
  mergeIssues,
  type SettingFacts,
} from "../../../../../providers/kubeadm/plan/adoption/adopted-configuration";
import { configurationVersions } from "../../../../../providers/kubeadm/plan/configuration/configuration";
import type { ClusterSpecification } from "../../../../../providers/kubeadm/plan/cluster/specification";
import type { JsonObject } from "../../../../../lib/merge";
import { issueLines } from "../../../../../lib/validation/validation-issue";
import { exampleMachine, exampleSpecification } from "../machine/examples";
import { ShellMachine } from "../machine/run-shell";

const KUBELET = { cgroupDriver: "systemd", maxPods: 110 };
const CLUSTER = { apiVersion: "kubeadm.k8s.io/v1beta4", kubernetesVersion: "v1.36.3" };
const UNCHANGED: SettingFacts = {
  configured: false,
  kubeletPath: "/var/lib/kubelet/config.yaml",
  kubelet: { ...KUBELET, containerRuntimeEndpoint: "unix:///run/containerd/containerd.sock" },
  manifests: [],
  etcd: [],
  readsMirrors: false,
  proxies: [],
  files: [],
};
const ETCD_OFF = { ETCD: false, ETCD_BASELINE: "", CURRENT: "# now" };
const file = (content: string) => ({ path: "/etc/audit.yaml", content, mode: "0600" });
const specification = exampleSpecification({ files: [], registryMirrors: {} });
const issues = (facts: Partial<SettingFacts>, over: Partial<ClusterSpecification> = {}) =>
  issueLines(
    machineSettingIssues(
      "w-1",
      { ...UNCHANGED, ...facts },
      { ...specification, ...over },
      { kubelet: KUBELET },
    ),
  );

describe("a changed configuration of an adopted machine", () => {
  it("is accepted when kubeadm's files are what its ConfigMaps say", () => {
    assert.deepEqual(issues({}), []);
    assert.deepEqual(
      issues({ configured: true, kubelet: { maxPods: 9 }, manifests: ["kube-apiserver"] }),
      [],
    );
  });

  const mirrors = { registryMirrors: { "docker.io": ["https://mirror"] } };
  const proxy = { proxy: { http: "http://proxy:3128", noProxy: [] } };
  const cases: [string, Partial<SettingFacts>, Partial<ClusterSpecification>, RegExp][] = [
    [
      "a kubelet's file that was edited",
      { kubelet: { ...KUBELET, maxPods: 9 } },
      {},
      /^: w-1: .*kubelet-config says \(maxPods\)/,
    ],
    [
      "static pods that were edited",
      { manifests: ["kube-apiserver --v"] },
      {},
      /kubeadm-config says \(kube-apiserver --v\)/,
    ],
    [
      "a member of etcd that was edited",
      { configured: true, etcd: ["etcd --quota-backend-bytes"] },
      {},
      /^kubeadm\.clusterConfiguration\.etcd: w-1: its member of etcd .*\(etcd --quota-backend-bytes\)/,
    ],
    [
      "a kubelet with another file, as of kubespray",
      { kubeletPath: "/etc/kubernetes/kubelet-config.yaml" },
      {},
      /reads \/etc\/kubernetes\/kubelet-config\.yaml, not/,
    ],
    ["mirrors that containerd does not read", {}, mirrors, /^registries\.mirrors: w-1: .*config_path/],
    ["a proxy beside another one", { proxies: ["containerd"] }, proxy, /^proxy: w-1: containerd has a proxy/],
    [
      "a file that others wrote",
      { files: ["/etc/audit.yaml"] },
      { files: [file("a")] },
      /^files\[0\]\.content: w-1: \/etc\/audit\.yaml exists/,
    ],
  ];
  for (const [what, facts, over, expected] of cases)
    it(`is refused for ${what}, with the path and the fix`, () => {
      const found = issues(facts, over);
      assert.equal(found.length, 1, found.join());
      assert.match(found[0] ?? "", expected);
    });

  it("is refused as long as kubeadm-config has an older form", () => {
    const change = { paths: [], upload: true, kubeProxy: false };
    const objects = {
      clusterConfiguration: { ...CLUSTER, apiVersion: "kubeadm.k8s.io/v1beta3" },
      kubelet: KUBELET,
    };
    assert.deepEqual(mergeIssues(change, { ...objects, clusterConfiguration: CLUSTER }), []);
    assert.match(
      issueLines(mergeIssues(change, objects)).join(),
      /^kubeadm\.clusterConfiguration: .*v1beta4/,
    );
    assert.deepEqual(mergeIssues({ ...change, upload: false }, objects), []);
  });

  it("of kube-proxy alone reaches no machine, and brings no files to them", () => {
    const olds = { specification: { ...specification, files: [file("a")] } };
    const news = { ...olds.specification, kubeProxy: { mode: "nftables" } };
    const change = adoptedChange(olds, news);
    assert.deepEqual(change, { paths: [["kubeProxy", "mode"]], upload: false, kubeProxy: true });
    assert.equal(changesMachines(change), false);
    assert.equal(adoptedConfiguration(olds, news), undefined);
    const both = adoptedChange(olds, { ...news, kubelet: { maxPods: 9 } })!;
    assert.deepEqual(both.paths, [["files"], ["kubelet", "maxPods"], ["kubeProxy", "mode"]]);
    assert.equal(changesMachines(both), true);
  });

  const etcdWith = (etcd: JsonObject) => ({ ...specification, kubeadm: { clusterConfiguration: { etcd } } });
  const extraArgs = [{ name: "snapshot-count", value: "5000" }];

  it("merges settings of etcd, and what the cluster has of it stays", () => {
    const news = etcdWith({ local: { extraArgs } });
    assert.equal(changesEtcdSettings(specification, news), true);
    assert.equal(changesEtcdSettings(specification, etcdWith({ local: { extraArgs: [] } })), false);
    const own = [{ name: "quota-backend-bytes", value: "1" }];
    const clusterConfiguration = { ...CLUSTER, etcd: { local: { dataDir: "/data", extraArgs: own } } };
    const merged = mergedObjects({ clusterConfiguration }, {}, news).clusterConfiguration!;
    assert.deepEqual(merged.object["etcd"], {
      local: { dataDir: "/data", extraArgs: [...own, ...extraArgs] },
    });
    const undone = mergedObjects(
      { clusterConfiguration: merged.object },
      { clusterConfiguration: merged.written },
      specification,
    );
    assert.deepEqual(undone.clusterConfiguration, { object: clusterConfiguration, written: [] });
    const bare = mergedObjects({ clusterConfiguration: CLUSTER }, {}, specification).clusterConfiguration!;
    assert.deepEqual(bare.object, CLUSTER);
    const rolled = adoptedConfiguration({ specification }, news);
    assert.match(rolled?.baseline["control-plane"] ?? "", /^[0-9a-f]{6}(\.[0-9a-f]{6}){3}$/);
  });

  it("is refused for members of etcd that are on no control plane", () => {
    const change = adoptedChange({ specification }, etcdWith({ local: { extraArgs } }))!;
    const objects = { kubelet: KUBELET, clusterConfiguration: { ...CLUSTER, etcd: { external: {} } } };
    assert.match(
      issueLines(mergeIssues(change, objects)).join(),
      /^kubeadm\.clusterConfiguration\.etcd: .*external/,
    );
    const kubelet = adoptedChange({ specification }, { ...specification, kubelet: { maxPods: 9 } })!;
    assert.deepEqual(mergeIssues(kubelet, objects), []);
  });

  it("gets other names for certificates that kubeadm wrote, and is refused for those of others", () => {
    const kubeadm = { clusterConfiguration: { apiServer: { certSANs: ["api.example.org"] } } };
    const change = adoptedChange({ specification }, { ...specification, kubeadm })!;
    assert.equal(change.upload, true);
    assert.deepEqual(mergeIssues(change, { clusterConfiguration: CLUSTER, kubelet: KUBELET }), []);
    const theirs = { ...CLUSTER, certificatesDir: "/etc/kubernetes/ssl" };
    assert.match(
      issueLines(mergeIssues(change, { clusterConfiguration: theirs, kubelet: KUBELET })).join("\n"),
      /^kubeadm\.clusterConfiguration\.apiServer\.certSANs: can't change: with certificatesDir /,
    );
    const rolled = adoptedConfiguration({ specification }, { ...specification, kubeadm });
    assert.match(rolled?.baseline["control-plane"] ?? "", /^[0-9a-f]{6}(\.[0-9a-f]{6}){4}$/);
  });

  it("brings the first time what only machines that joined later have", () => {
    const olds = { specification: { ...specification, files: [file("a")] } };
    const news = { ...olds.specification, kubelet: { maxPods: 9 } };
    assert.deepEqual(adoptedChange(olds, news)?.paths, [["files"], ["kubelet", "maxPods"]]);
    assert.equal(adoptedChange(olds, olds.specification), undefined);
    assert.equal(adoptedConfiguration(olds, olds.specification), undefined);
    const configuration = adoptedConfiguration(olds, news);
    assert.deepEqual(configuration?.baseline, configurationVersions(specification));
    const later = { specification: news, configuration };
    const last = { ...news, kubelet: { maxPods: 8 } };
    assert.deepEqual(adoptedChange(later, last)?.paths, [["kubelet", "maxPods"]]);
    assert.deepEqual(adoptedConfiguration(later, last), configuration);
  });

  it("concerns its workers with the first change of control planes, which brings them files", () => {
    const kubeadm = {
      clusterConfiguration: { apiServer: { extraArgs: [{ name: "profiling", value: "false" }] } },
    };
    const unchangedOf = (olds: typeof specification) =>
      adoptedConfiguration({ specification: olds }, { ...olds, kubeadm })?.unchanged;
    assert.deepEqual(unchangedOf(specification), ["worker"]);
    assert.equal(unchangedOf({ ...specification, files: [file("a")] }), undefined);
  });
});

describe("the script that reads an adopted machine's settings", () => {
  const machine = new ShellMachine();
  after(() => rmSync(machine.root, { recursive: true }));
  const rendered = "    - --advertise-address=10.0.0.1\n    - --profiling=false\n    image: a\n";
  // the sums of the file's contents in both versions of the stack
  const script = adoptionSettingsScript(
    { ...specification, files: [file("old")] },
    { ...specification, files: [file("new\n")] },
    exampleMachine("cp-1"),
  );
  const [, sums = ""] = /^FILE_SUMS=\('(.*)'\)$/m.exec(script.text) ?? [];
  const facts = (over: Record<string, string[]> = {}) => {
    const parameters = { AGENT_PATH: machine.path("/var/lib/foresail/agent"), PATCHES: "", ...ETCD_OFF };
    const files = { FILE_PATHS: [machine.path("/etc/audit.yaml")], FILE_SUMS: [sums] };
    const { stdout, stderr, status } = machine.step("adoption/adoption-settings", {
      ...parameters,
      ...files,
      ...over,
    });
    assert.deepEqual([stderr, status], ["", 0]);
    return parseSettingFacts(stdout);
  };

  before(() => {
    machine.program("systemctl", 'if [ "$2" = containerd ] && [ -e "$0.proxy" ]; then cat "$0.proxy"; fi');
    machine.program(
      "containerd",
      `echo "      config_path = '${machine.path("/etc/containerd/certs.d")}:/x'"`,
    );
    machine.program(
      "kubeadm",
      'mkdir -p "$KUBEADM_INIT_DRYRUN_DIR"; for pod in kube-apiserver kube-controller-manager kube-scheduler; do cat >"$KUBEADM_INIT_DRYRUN_DIR/$pod.yaml" <<<"' +
        rendered.trimEnd() +
        '"; done',
    );
    machine.write("/run/.keep", "");
    machine.write("/var/lib/kubelet/config.yaml", "maxPods: 110\n");
    for (const pod of ["kube-apiserver", "kube-controller-manager", "kube-scheduler"])
      machine.write(`/etc/kubernetes/manifests/${pod}.yaml`, rendered);
  });

  it("finds nothing on a machine that is as kubeadm left it, and leaves nothing behind", () => {
    machine.write("/etc/audit.yaml", "old\n");
    assert.deepEqual(facts(), {
      ...UNCHANGED,
      kubeletPath: "",
      kubelet: { maxPods: 110 },
      readsMirrors: true,
    });
    assert.deepEqual(readdirSync(machine.path("/run")), [".keep"]);
  });

  it("names what differs without its value: arguments, files, proxies", () => {
    machine.write("/etc/kubernetes/manifests/kube-apiserver.yaml", rendered.replace("=false", "=s3cret"));
    machine.write("/etc/kubernetes/manifests/kube-scheduler.yaml", rendered.replace("image: a", "image: b"));
    machine.write("/etc/audit.yaml", "theirs\n");
    machine.write("/programs/systemctl.proxy", "HTTPS_PROXY=http://user:pw@proxy");
    const { manifests, proxies, files } = facts();
    assert.deepEqual(manifests, ["kube-apiserver --profiling", "kube-scheduler"]);
    assert.deepEqual([proxies, files], [["containerd"], [machine.path("/etc/audit.yaml")]]);
  });

  it("says why kubeadm could not render the static pods", () => {
    machine.program("kubeadm", "echo 'error: unknown field' >&2; exit 1");
    assert.deepEqual(facts().manifests, ["kubeadm could not render them: error: unknown field"]);
  });

  it("asks for nothing that foresail wrote itself", () => {
    machine.write("/var/lib/foresail/agent/configuration", "aaaaaa.bbbbbb");
    machine.write("/var/lib/foresail/agent/written", `${machine.path("/etc/audit.yaml")}\n`);
    const { configured, manifests, files } = facts();
    assert.deepEqual([configured, manifests, files], [true, [], []]);
  });

  it("gives kubeadm the cluster's own object with an address to fill in", () => {
    assert.match(
      settingsData(
        { clusterConfiguration: CLUSTER },
        { clusterConfiguration: { ...CLUSTER, scheduler: {} } },
      ),
      /^ {2}advertiseAddress: ""$[^]*---\napiVersion: kubeadm.*\nkubernetesVersion: v1\.36\.3$/m,
    );
  });
});
