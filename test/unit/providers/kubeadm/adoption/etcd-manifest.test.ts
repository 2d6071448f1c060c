import assert from "node:assert/strict";
import { readdirSync, rmSync } from "node:fs";
import {
  adoptionSettingsScript,
  parseSettingFacts,
  settingsData,
} from "../../../../../providers/kubeadm/machine/adoption/adoption-steps";
import { exampleSpecification } from "../machine/examples";
import { ShellMachine } from "../machine/run-shell";

const clusterConfiguration = (quota: string) => ({ kind: "ClusterConfiguration", quota });
const [original, current] = [clusterConfiguration("1"), clusterConfiguration("2")];

/** A member's manifest, as the program below renders it for a configuration, or with a peer and an image of its own. */
const manifest = (quota: string, { peers = "cp-1=https://a:2380,cp-2=https://b:2380", probe = "8" } = {}) =>
  [
    "    - --name=cp-2",
    `    - --initial-cluster=${peers}`,
    "    - --initial-cluster-state=existing",
    `    - --quota-backend-bytes=${quota}`,
    "    image: etcd:theirs",
    `      failureThreshold: ${probe}`,
    "",
  ].join("\n");

/** Renders a first member, as kubeadm does. */
const KUBEADM = `
mkdir -p "$KUBEADM_INIT_DRYRUN_DIR"
while [ $# -gt 0 ]; do if [ "$1" = --config ]; then configuration=$2; fi; shift; done
name=$(sed -n '/^nodeRegistration:/{n;s/^  name: //p}' "$configuration")
printf -- '    - --name=%s\\n    - --initial-cluster=%s=https://b:2380\\n    - --quota-backend-bytes=%s\\n    image: etcd:new\\n      failureThreshold: 8\\n' \\
  "$name" "$name" "$(sed -n 's/^quota: "\\(.*\\)"$/\\1/p' "$configuration")" >"$KUBEADM_INIT_DRYRUN_DIR/etcd.yaml"`;

describe("the comparison of an adopted member of etcd", () => {
  let machine: ShellMachine;
  beforeEach(() => {
    machine = new ShellMachine();
    machine.program("systemctl", "");
    machine.program("containerd", "");
    machine.program("kubeadm", KUBEADM);
    machine.write("/run/.keep", "");
    machine.write("/etc/kubernetes/manifests/kube-apiserver.yaml", "");
  });
  afterEach(() => rmSync(machine.root, { recursive: true }));

  /** What differs, with a manifest and the version that the node agent has applied. */
  const compared = (text: string | undefined, version = "aaaaaa.bbbbbb.cccccc") => {
    if (text !== undefined) machine.write("/etc/kubernetes/manifests/etcd.yaml", text);
    machine.write("/var/lib/foresail/agent/configuration", version);
    const [, CURRENT = ""] = /\n(# foresail: .*)\n/.exec(settingsData({}, {})) ?? [];
    const { stdout, stderr, status } = machine.step(
      "adoption/adoption-settings",
      {
        ...{
          AGENT_PATH: machine.path("/var/lib/foresail/agent"),
          FILE_PATHS: [],
          FILE_SUMS: [],
          PATCHES: "",
        },
        ...{ ETCD: true, ETCD_BASELINE: "dddddd", CURRENT },
      },
      ["common/etcd-manifest"],
      { data: settingsData({ clusterConfiguration: original }, { clusterConfiguration: current }) },
    );
    assert.deepEqual([stderr, status], ["", 0]);
    assert.deepEqual(readdirSync(machine.path("/run")), [".keep"]);
    return parseSettingFacts(stdout).etcd;
  };

  it("accepts what kubeadm renders for the cluster of before or of now, with the member's own peers and image", () => {
    assert.deepEqual(compared(manifest("1")), []);
    assert.deepEqual(compared(manifest("2")), []);
    assert.deepEqual(compared(manifest("1", { peers: "cp-2=https://b:2380" })), []);
  });

  it("names what was edited by hand, without values, also on a machine whose other parts foresail has configured", () => {
    assert.deepEqual(compared(manifest("s3cret")), ["etcd --quota-backend-bytes"]);
    assert.deepEqual(compared(manifest("1", { probe: "24" }), "a.b.c.dddddd.e"), ["etcd failureThreshold"]);
  });

  it("leaves a member alone whose settings foresail has written", () => {
    assert.deepEqual(compared(manifest("3"), "aaaaaa.bbbbbb.cccccc.eeeeee"), []);
  });

  it("says when there is no member, or kubeadm can't render it", () => {
    assert.deepEqual(compared(undefined), ["no static pod etcd"]);
    machine.program("kubeadm", "echo 'error: unknown field' >&2; exit 1");
    assert.deepEqual(compared(manifest("1")), ["kubeadm could not render it: error: unknown field"]);
  });

  it("is made on control planes only, when settings of etcd change", () => {
    const specification = exampleSpecification();
    const extraArgs = [{ name: "snapshot-count", value: "5000" }];
    const news = { ...specification, kubeadm: { clusterConfiguration: { etcd: { local: { extraArgs } } } } };
    const textFor = (role: "worker" | "control-plane", after = news) =>
      adoptionSettingsScript(specification, after, { name: "cp-1", role, group: role }, "a.b.c.d").text;
    assert.match(textFor("control-plane"), /^ETCD='yes'$/m);
    assert.match(textFor("control-plane"), /^ETCD_BASELINE='d'$/m);
    assert.match(textFor("worker"), /^ETCD='no'$/m);
    assert.match(
      textFor("control-plane", { ...news, kubeadm: specification.kubeadm as never }),
      /^ETCD='no'$/m,
    );
  });
});
