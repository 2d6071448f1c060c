import assert from "node:assert/strict";
import { readdirSync, rmSync } from "node:fs";
import {
  parseRewritten,
  rewrittenData,
  rewrittenSettingsScript,
  writtenAddons,
} from "../../../../../providers/kubeadm/machine/adoption/rewritten-settings";
import { lostSettings } from "../../../../../providers/kubeadm/plan/adoption/lost-settings";
import { exampleMachine } from "../machine/examples";
import { ShellMachine } from "../machine/run-shell";

const CLUSTER = { apiVersion: "kubeadm.k8s.io/v1beta4", kind: "ClusterConfiguration", scheduler: {} };
const KUBELET = { kind: "KubeletConfiguration", maxPods: 110 };
const PODS = ["kube-apiserver", "kube-controller-manager", "kube-scheduler", "etcd"];
const manifest = (name: string, ...flags: string[]) =>
  [
    "metadata:",
    "  annotations:",
    "    kubeadm.kubernetes.io/kube-apiserver.advertise-address.endpoint: 10.0.0.9:6443",
    "spec:",
    "  containers:",
    `  - name: ${name}`,
    "    command:",
    `    - ${name}`,
    ...["--name=cp-one", ...flags].map((flag) => `    - ${flag}`),
    "",
  ].join("\n");

/** A kubeadm that renders from what it is given: flags of the scheduler, the kubelet's configuration, the addons. */
const KUBEADM = `
while [ $# -gt 0 ]; do case $1 in --config) config=$2; shift ;; --*) ;; *) phase="\${phase-} $1" ;; esac; shift; done
into=$KUBEADM_INIT_DRYRUN_DIR
case $phase in
*kubelet-start)
  awk '/^kind: KubeletConfiguration/ { found = 1 } found' "$config" >"$into/config.yaml"
  folder=$(sed -n 's/^  directory: //p' "$config")
  if [ -n "$folder" ]; then cat "$folder"/kubelet* >>"$into/config.yaml"; fi
  ;;
*"control-plane all") for pod in kube-apiserver kube-controller-manager kube-scheduler; do sed "s/@/$pod/g" "$TEMPLATE" >"$into/$pod.yaml"; done ;;
*"etcd local") sed "s/@/etcd/g; s/cp-one/$(sed -n 's/^  name: //p' "$config")/" "$TEMPLATE" >"$into/etcd.yaml" ;;
*"addon kube-proxy") ;;
*"addon coredns") cat "$ADDONS" ;;
esac`;
const ADDONS = `---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: coredns
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: coredns
data:
  Corefile: default
---
kind: ServiceAccount
metadata:
  name: coredns
`;

describe("the script that reads what kubeadm writes again", () => {
  let machine: ShellMachine;
  beforeEach(() => {
    machine = new ShellMachine();
    machine.write("/run/.keep", "");
    machine.write("/template", manifest("@"));
    machine.write("/addons", ADDONS);
    for (const pod of PODS) machine.write(`/etc/kubernetes/manifests/${pod}.yaml`, manifest(pod));
    machine.write("/var/lib/kubelet/config.yaml", "kind: KubeletConfiguration\nmaxPods: 110\n");
    const given = `TEMPLATE=${machine.path("/template")} ADDONS=${machine.path("/addons")}`;
    machine.program("kubeadm", `export ${given}\n${KUBEADM}`);
    // the script lets kubeadm run without its environment
    machine.program("env", 'shift 2; export "$1"; shift; exec "$@"');
    machine.program(
      "kubectl",
      `case "$*" in
*"get deployment coredns"*) cat "${machine.path("/deployment")}" 2>/dev/null ;;
*"get configmap coredns"*) cat "${machine.path("/configmap")}" 2>/dev/null ;;
*"replace --dry-run=server"*)
  if grep -qx "kind: Deployment" "\${@: -3:1}"; then echo '{"metadata":{"name":"coredns"},"spec":{"defaulted":true}}'; else echo '{"data":{"Corefile":"default"}}'; fi
  ;;
esac; exit 0`,
    );
  });
  afterEach(() => rmSync(machine.root, { recursive: true }));

  const read = ({ data = "", role = "control-plane", adopts = false, addons = writtenAddons({}) } = {}) => {
    const configuration =
      data || rewrittenData([{ clusterConfiguration: CLUSTER, kubelet: KUBELET }], exampleMachine("cp-1"));
    const parameters = {
      ...{
        NEXT: "# foresail: the next configuration",
        CONTROL_PLANE: role !== "worker",
        ADDONS: role === "worker" ? [] : addons,
      },
      ...{
        PATCHES_OF_INIT: "",
        PATCHES_OF_JOIN: "",
        ADOPTS: adopts,
        NO_CERTIFICATES: "/nonexistent/foresail",
      },
      ...{ MEMBER_PATH: "/var/lib/foresail/member", OWN_PATCHES_PATH: "/etc/kubernetes/patches" },
    };
    const { stdout, stderr, status } = machine.step(
      "adoption/rewritten-settings",
      parameters,
      ["common/adopted"],
      {
        data: configuration,
      },
    );
    return { stderr, status, lost: () => lines(stdout) };
  };
  const lines = (answer: string) =>
    lostSettings(parseRewritten(answer), true).map(
      ({ change, setting, object }) => `${change} ${setting} of ${object}`,
    );

  it("finds nothing on a machine that is as kubeadm left it, and leaves nothing behind", () => {
    const { stderr, status, lost } = read();
    assert.deepEqual([stderr, status, lost()], ["", 0, []]);
    assert.deepEqual(readdirSync(machine.path("/run")), [".keep"]);
  });

  it("finds what others wrote into static pods, the kubelet's file and objects of the cluster", () => {
    machine.write(
      "/etc/kubernetes/manifests/kube-apiserver.yaml",
      manifest("kube-apiserver", "--audit-log-path=/a"),
    );
    machine.write("/etc/kubernetes/manifests/etcd.yaml", manifest("etcd", "--quota-backend-bytes=1"));
    machine.write("/var/lib/kubelet/config.yaml", "kind: KubeletConfiguration\nmaxPods: 250\n");
    machine.write(
      "/deployment",
      '{"metadata":{"name":"coredns"},"spec":{"defaulted":true,"nodeSelector":{"disk":"ssd"}}}',
    );
    machine.write("/configmap", '{"data":{"Corefile":"default","zone":"a"}}');
    assert.deepEqual(read().lost(), [
      "loses --audit-log-path of the static pod kube-apiserver",
      "loses --quota-backend-bytes of the static pod etcd",
      "loses maxPods of /var/lib/kubelet/config.yaml",
      "loses spec.nodeSelector.disk of the Deployment coredns",
      "loses data.zone of the ConfigMap coredns",
    ]);
  });

  it("reads no addon that kubeadm does not write", () => {
    const clusterConfiguration = { dns: { disabled: true }, proxy: {} };
    assert.deepEqual(writtenAddons({ clusterConfiguration }), ["kube-proxy"]);
    assert.deepEqual(writtenAddons({ clusterConfiguration: { proxy: { disabled: true } } }), ["coredns"]);
    machine.write("/deployment", '{"spec":{"nodeSelector":{"disk":"ssd"}}}');
    assert.deepEqual(read({ addons: ["kube-proxy"] }).lost(), []);
  });

  it("finds nothing in a Corefile that is not kubeadm's, which kubeadm leaves as it is", () => {
    machine.write("/configmap", '{"data":{"Corefile":"theirs","zone":"a"}}');
    assert.deepEqual(read().lost(), []);
  });

  it("leaves out what patches of an adopted machine keep, and what the stack has set or unset", () => {
    machine.write(
      "/var/lib/kubelet/config.yaml",
      "kind: KubeletConfiguration\nmaxPods: 110\npodPidsLimit: 9\n",
    );
    machine.write("/etc/kubernetes/patches/kubeletconfiguration0+merge.yaml", "podPidsLimit: 9\n");
    assert.deepEqual(read().lost(), ["loses podPidsLimit of /var/lib/kubelet/config.yaml"]);
    assert.deepEqual(read({ adopts: true }).lost(), []);
    machine.write("/var/lib/foresail/member", "adopted 2026\n");
    assert.deepEqual(read().lost(), []);
    machine.write("/var/lib/kubelet/config.yaml", "kind: KubeletConfiguration\nmaxPods: 110\n");
    rmSync(machine.path("/etc/kubernetes/patches"), { recursive: true });
    const data = rewrittenData(
      [KUBELET, { ...KUBELET, maxPods: 120 }].map((kubelet) => ({ clusterConfiguration: CLUSTER, kubelet })),
      exampleMachine("cp-1"),
    );
    assert.deepEqual(read({ data }).lost(), []);
  });

  it("reads the kubelet's file alone on a worker", () => {
    machine.write("/var/lib/kubelet/config.yaml", "kind: KubeletConfiguration\nmaxPods: 250\n");
    machine.write("/deployment", '{"spec":{"a":1}}');
    assert.deepEqual(read({ role: "worker" }).lost(), ["loses maxPods of /var/lib/kubelet/config.yaml"]);
  });

  it("says why kubeadm could not render, and leaves nothing behind", () => {
    machine.program("kubeadm", "echo 'error: unknown field' >&2; exit 1");
    const { status, stderr } = read();
    assert.equal(status, 1);
    assert.match(stderr, /^kubeadm init phase kubelet-start.*: error: unknown field$/m);
    assert.deepEqual(readdirSync(machine.path("/run")), [".keep"]);
  });

  it("only reads: without the frame of other steps", () => {
    const { text } = rewrittenSettingsScript({ machine: exampleMachine("cp-1"), addons: [] });
    assert.doesNotMatch(text, /flock|>>/);
    const data = rewrittenData(
      [CLUSTER, CLUSTER, { ...CLUSTER, scheduler: { a: 1 } }].map((clusterConfiguration) => ({
        clusterConfiguration,
      })),
      exampleMachine("cp-1"),
    );
    assert.equal(data.split("# foresail: the next configuration\n").length, 2);
  });
});
