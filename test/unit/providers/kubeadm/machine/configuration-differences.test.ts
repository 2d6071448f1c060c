import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import {
  configurationData,
  configurationDifferencesScript,
  mergedConfigurationData,
  parseConfigurationDifferences,
} from "../../../../../providers/kubeadm/machine/configuration/configuration-differences";
import { UNIT_FILE } from "../../../../../providers/kubeadm/plan/hardening/private-files";
import { withDerivedSettings } from "../../../../../providers/kubeadm/plan/hardening/profile";
import type { ClusterSpecification } from "../../../../../providers/kubeadm/plan/cluster/specification";
import { CERTIFICATES_OF_KUBEADM, placeCertificate } from "./certificates";
import { exampleMachine, exampleSpecification } from "./examples";
import { ShellMachine } from "./run-shell";

const KUBEADM = `
[ -n "$KUBEADM_INIT_DRYRUN_DIR" ] && [ -z "\${HTTPS_PROXY-}" ] || exit 3
patches=
for word; do case $word in --patches=*) patches=\${word#*=} ;; esac; done
case "$*" in
"init phase control-plane all --config "*" --dry-run")
  for name in kube-apiserver kube-controller-manager kube-scheduler; do
    { echo "name: $name"; if [ -n "$patches" ]; then cat "$patches"/*; fi; } >"$KUBEADM_INIT_DRYRUN_DIR/$name.yaml"
  done
  ;;
"init phase etcd local --config "*" --dry-run")
  printf -- '    - --%s\\n' initial-cluster=cp-2=https://b:2380 name=cp-2 quota=9 >"$KUBEADM_INIT_DRYRUN_DIR/etcd.yaml"
  echo "    image: etcd:new" >>"$KUBEADM_INIT_DRYRUN_DIR/etcd.yaml"
  ;;
"init phase kubelet-start --config "*" --dry-run") echo "clientCAFile: /nonexistent/foresail/ca.crt" >"$KUBEADM_INIT_DRYRUN_DIR/config.yaml" ;;
*) exit 4 ;;
esac`;

describe("the comparison of a machine's files with a configuration", function () {
  this.timeout(20_000);
  let machine: ShellMachine;
  const kubeadm = (text: string) => machine.write("/usr/local/bin/kubeadm", `#!/bin/bash\n${text}\n`, 0o755);

  beforeEach(() => {
    machine = new ShellMachine();
    kubeadm(KUBEADM);
    machine.program("systemctl", "exit 9");
    machine.program("update-ca-certificates", "exit 9");
    machine.write("/run/here", "");
    machine.write(
      "/var/lib/kubelet/config.yaml",
      "clientCAFile: /etc/kubernetes/pki/ca.crt\n".replace("/etc", machine.path("/etc")),
    );
    for (const name of ["kube-apiserver", "kube-controller-manager", "kube-scheduler"])
      machine.write(`/etc/kubernetes/manifests/${name}.yaml`, `name: ${name}\n`);
    machine.write("/etc/audit.yaml", "old\n", 0o644);
    machine.write("/etc/same", "same\n", 0o600);
    machine.write("/etc/gone", "gone\n");
    machine.write("/etc/apt/apt.conf.d/90foresail-proxy", "proxy\n");
  });

  function compared(over: Record<string, string | boolean | string[]> = {}, data = "") {
    process.env["HTTPS_PROXY"] = "http://of-the-caller:1";
    const { stdout, stderr, status } = machine.step(
      "configuration/configuration-differences",
      {
        CA_BUNDLE: "",
        PROXY: [],
        REGISTRIES: [],
        REGISTRY_HOSTS: [],
        FILE_PATHS: ["/etc/audit.yaml", "/etc/same", "/etc/new"].map((path) => machine.path(path)),
        FILE_MODES: ["0644", "0640", "0600"],
        FILE_OWNERS: ["", "", ""],
        FILE_CONTENTS: ["new", "same", "fresh\n"],
        REMOVED_PATHS: ["/etc/gone", "/etc/never"].map((path) => machine.path(path)),
        CONTROL_PLANE: false,
        KUBEADM: true,
        REMOVED_NAMES: [],
        ...{ ENDPOINT: "lb-2:6443", FORMER_ENDPOINTS: ["lb-1:6443"] },
        ETCD: false,
        CERTIFICATE: false,
        PATCHES_OF_INIT: "",
        PATCHES_OF_JOIN: "",
        NO_CERTIFICATES: "/nonexistent/foresail",
        OWN_ADDRESS: false,
        ...{ PRIVATE_PATHS: [], PRIVATE_FOLDER: "" },
        MEMBER_PATH: machine.path("/var/lib/foresail/member"),
        AGENT_PATH: machine.path("/var/lib/foresail/agent"),
        ...over,
      },
      [
        ...["common/adopted", "common/settings", "common/etcd-manifest", "common/api-server-certificate"],
        ...["common/moved-endpoint", "common/tried-programs"],
      ],
      { data },
    );
    delete process.env["HTTPS_PROXY"];
    const files = status === 0 ? parseConfigurationDifferences(stdout) : [];
    return {
      stderr,
      status,
      files: files.map(({ path, before, after }) => [path.replace(machine.root, ""), before, after] as const),
    };
  }

  it("finds contents, modes, new and removed files, and changes nothing on the machine", () => {
    const before = readdirSync(machine.root, { recursive: true }).sort();
    const { status, stderr, files } = compared();
    assert.deepEqual([status, stderr], [0, ""]);
    const contents = files.map(([path, old, now]) => [path, old?.content, now?.content]);
    assert.deepEqual(contents, [
      ["/etc/audit.yaml", "old\n", "new\n"],
      ["/etc/same", "same\n", "same\n"],
      ["/etc/new", undefined, "fresh\n"],
      ["/etc/apt/apt.conf.d/90foresail-proxy", "proxy\n", undefined],
      ["/etc/gone", "gone\n", undefined],
    ]);
    const [, same] = files;
    assert.deepEqual([same?.[1]?.mode?.slice(0, 4), same?.[2]?.mode?.slice(0, 4)], ["600 ", "640 "]);
    assert.deepEqual(readdirSync(machine.root, { recursive: true }).sort(), before);
    assert.equal(readFileSync(machine.path("/etc/audit.yaml"), "utf8"), "old\n");
  });

  it("finds what the kubelet's start makes private, besides or instead of other contents, and shows no content", () => {
    machine.write("/etc/private/key", "s3cret\n", 0o644);
    machine.write("/etc/private/already", "s3cret\n", 0o600);
    mkdirSync(machine.path("/data"), { mode: 0o755 });
    machine.write("/data/file", "theirs\n", 0o644);
    machine.write("/etc/also", "also\n", 0o600);
    const paths = ["/etc/private", "/etc/audit.yaml", "/etc/also", "/var/lib/kubelet/config.yaml"];
    const { status, stderr, files } = compared({
      PRIVATE_PATHS: paths.map((path) => machine.path(path)),
      PRIVATE_FOLDER: machine.path("/data"),
      FILE_PATHS: ["/etc/audit.yaml", "/etc/also"].map((path) => machine.path(path)),
      FILE_MODES: ["0644", "0644"],
      FILE_OWNERS: ["", ""],
      FILE_CONTENTS: ["new", "also"],
      REMOVED_PATHS: [],
    });
    assert.deepEqual([status, stderr], [0, ""]);
    const mode = (state?: { mode?: string }) => state?.mode?.split(" ")[0];
    const found = files.map(
      ([path, old, now]) => `${path} ${mode(old)} ${mode(now)} ${now?.content === old?.content}`,
    );
    // 0644, which the agent writes, does not last: that is not a difference of /etc/also
    assert.deepEqual(found.slice(0, 1), ["/etc/audit.yaml 644 600 false"]);
    assert.deepEqual(found.slice(2), [
      "/var/lib/kubelet/config.yaml 644 600 true",
      "/etc/private/key 644 600 true",
      "/data 755 700 true",
    ]);
    assert.doesNotMatch(JSON.stringify(files), /s3cret/);
  });

  it("lets kubeadm write a control plane's manifests with the machine's patches, as these will be", () => {
    machine.write("/etc/patches/a.yaml", "patch: old\n");
    const patch = machine.path("/etc/patches/a.yaml");
    const { files } = compared({
      CONTROL_PLANE: true,
      PATCHES_OF_JOIN: machine.path("/etc/patches"),
      FILE_PATHS: [patch],
      FILE_MODES: ["0644"],
      FILE_OWNERS: [""],
      FILE_CONTENTS: ["patch: new"],
    });
    const manifest = files.find(([path]) => path === "/etc/kubernetes/manifests/kube-scheduler.yaml");
    assert.equal(manifest?.[2]?.content, "name: kube-scheduler\npatch: new\n");
  });

  it("gives an adopted machine the file back that a configured one replaced, and leaves others alone", () => {
    machine.write("/var/lib/foresail/member", "adopted 1.36.3\n");
    machine.write(
      "/var/lib/foresail/agent/written",
      `${machine.path("/etc/gone")}\n${machine.path("/etc/new")}\n`,
    );
    machine.write(
      "/var/lib/foresail/agent/originals/etc/gone".replace("/etc", machine.path("/etc")),
      "theirs\n",
    );
    machine.write("/etc/new", "ours\n");
    const REMOVED_PATHS = ["/etc/gone", "/etc/new", "/etc/same"].map((path) => machine.path(path));
    const { status, stderr, files } = compared({ REMOVED_PATHS, FILE_PATHS: [], KUBEADM: false });
    assert.deepEqual([status, stderr], [0, ""]);
    assert.deepEqual(
      files.map(([path, before, after]) => [path, before?.content, after?.content]),
      [
        ["/etc/gone", "gone\n", "theirs\n"],
        ["/etc/apt/apt.conf.d/90foresail-proxy", "proxy\n", undefined],
        ["/etc/new", "ours\n", undefined],
      ],
    );
  });

  it("lets kubeadm write with the address and the container runtime that the machine has", () => {
    kubeadm(
      `${KUBEADM}\nfor word; do [ -e "$word" ] && cat "$word" >"$KUBEADM_INIT_DRYRUN_DIR/kube-scheduler.yaml"; done; exit 0`,
    );
    const objects = { clusterConfiguration: { clusterName: "theirs" }, kubelet: { maxPods: 90 } };
    const data = mergedConfigurationData(objects, exampleMachine("cp-1"));
    const given = (OWN_ADDRESS: boolean) =>
      compared({ CONTROL_PLANE: true, OWN_ADDRESS }, data).files.find(([path]) =>
        path.endsWith("scheduler.yaml"),
      )?.[2]?.content;
    assert.equal(given(true), data);
    const annotation =
      "    kubeadm.kubernetes.io/kube-apiserver.advertise-address.endpoint: 192.0.2.7:7443\n";
    machine.write("/etc/kubernetes/manifests/kube-apiserver.yaml", annotation);
    machine.write(
      "/var/lib/kubelet/kubeadm-flags.env",
      'KUBELET_KUBEADM_ARGS="--container-runtime-endpoint=unix:///run/a.sock --v=2"\n',
    );
    assert.equal(given(false), data);
    assert.match(
      given(true) ?? "",
      /criSocket: unix:\/\/\/run\/a\.sock\n.*\n {2}advertiseAddress: 192\.0\.2\.7\n {2}bindPort: 7443$/m,
    );
    machine.write(
      "/var/lib/kubelet/instance-config.yaml",
      'containerRuntimeEndpoint: "unix:///run/b.sock"\n',
    );
    assert.match(given(true) ?? "", /criSocket: unix:\/\/\/run\/b\.sock$/m);
  });

  it("compares etcd's manifest as this member has it, with its peers and its image, when etcd gets other settings", () => {
    const peers = [
      "    - --initial-cluster=cp-1=https://a:2380,cp-2=https://b:2380",
      "    - --initial-cluster-state=existing",
    ];
    const current = [...peers, "    - --name=cp-2", "    image: etcd:old", ""].join("\n");
    machine.write("/etc/kubernetes/manifests/etcd.yaml", current);
    const etcdOf = (change: object) =>
      compared({ CONTROL_PLANE: true, ...change }).files.find(([path]) => path.endsWith("/etcd.yaml"));
    assert.equal(
      etcdOf({ ETCD: true })?.[2]?.content,
      current.replace("    image", "    - --quota=9\n    image"),
    );
    assert.equal(etcdOf({ ETCD: false }), undefined);
  });

  it("compares the names in the API server's certificate, without the certificate, when it gets other names", () => {
    placeCertificate(machine, ["cp-2", "old.example.org", "10.0.0.2"]);
    kubeadm(`${CERTIFICATES_OF_KUBEADM}\n${KUBEADM}`);
    const clusterConfiguration = { kind: "ClusterConfiguration", apiServer: { certSANs: ["a.example.org"] } };
    const data = mergedConfigurationData({ clusterConfiguration, kubelet: {} }, exampleMachine("cp-2"));
    const change = { CONTROL_PLANE: true, REMOVED_NAMES: ["old.example.org"], REMOVED_PATHS: [] };
    const namesOf = (CERTIFICATE: boolean) =>
      compared({ ...change, CERTIFICATE }, data).files.find(([path]) => path.includes("pki"));
    assert.deepEqual(namesOf(true), [
      "/etc/kubernetes/pki/apiserver.crt (names)",
      { content: "10.0.0.2\ncp-2\nkubernetes\nold.example.org\n" },
      { content: "10.0.0.2\na.example.org\ncp-2\nkubernetes\n" },
    ]);
    assert.equal(namesOf(false), undefined);
    assert.deepEqual(readdirSync(machine.path("/run")), ["here"]);
  });

  it("compares nothing that kubeadm writes when kubeadm gets no other settings", () => {
    kubeadm("exit 1");
    machine.write("/var/lib/kubelet/config.yaml", "other\n");
    const { status, files } = compared({ KUBEADM: false });
    assert.deepEqual([status, files.length], [0, 5]);
  });

  it("shows the address of a moved endpoint, and nothing else of a kubeconfig", () => {
    const kubeconfig = "    client-key-data: hunter2\n    server: https://lb-1:6443\n";
    machine.write("/etc/kubernetes/kubelet.conf", kubeconfig);
    const { files } = compared({ KUBEADM: false });
    const found = files.find(([path]) => path.startsWith("/etc/kubernetes"));
    const [old, now] = ["lb-1", "lb-2"].map((host) => ({ content: `    server: https://${host}:6443\n` }));
    assert.deepEqual(found, ["/etc/kubernetes/kubelet.conf (server)", old, now]);
    assert.equal(readFileSync(machine.path("/etc/kubernetes/kubelet.conf"), "utf8"), kubeconfig);
  });

  it("says what kubeadm refuses, and leaves no folder behind", () => {
    kubeadm("echo unknown field; exit 1");
    const { status, stderr } = compared();
    assert.equal(status, 1);
    assert.match(stderr, /^kubeadm init phase kubelet-start --dry-run: unknown field/);
    assert.deepEqual(readdirSync(machine.path("/run")), ["here"]);
  });

  it("is a script for one machine, whose data has its kubeadm configuration without what it joined with", () => {
    const specification = exampleSpecification({
      kubeadm: { initConfiguration: { patches: { directory: "/etc/patches" } } },
    });
    const [controlPlane, worker] = [exampleMachine("cp-1"), exampleMachine("w-1")];
    const { text } = configurationDifferencesScript(specification, worker, [controlPlane, worker], {
      removed: ["/etc/old"],
      kubeadm: true,
    });
    assert.match(text, /^CONTROL_PLANE='no'$/m);
    assert.match(text, /^PATCHES_OF_INIT='\/etc\/patches'$/m);
    assert.doesNotMatch(text, /LOCK_PATH|flock/);
    const data = configurationData(specification, worker, [controlPlane, worker]);
    assert.match(data, /certificatesDir: \/nonexistent\/foresail/);
    assert.doesNotMatch(data, /patches/);
    assert.doesNotMatch(configurationData(specification, controlPlane, [controlPlane]), /certificatesDir/);
    const objects = { clusterConfiguration: { certificatesDir: "/etc/theirs" }, kubelet: { address: "off" } };
    assert.match(
      mergedConfigurationData(objects, controlPlane),
      /^certificatesDir: \/etc\/theirs\n---\naddress: "off"$/m,
    );
    assert.match(mergedConfigurationData(objects, worker), /^certificatesDir: \/nonexistent\/foresail$/m);
  });

  it("knows what becomes private from the profile, unless the unit's part is the user's", () => {
    const machines = [exampleMachine("w-1")] as const;
    const textFor = (specification: ClusterSpecification) => {
      const hardened = withDerivedSettings(specification, { profile: "cis" });
      return configurationDifferencesScript(hardened, machines[0], machines, { removed: [], kubeadm: true })
        .text;
    };
    const text = textFor(exampleSpecification());
    assert.match(text, /^PRIVATE_PATHS=\('\/etc\/kubernetes\/pki' .*'\/etc\/cni\/net\.d'/m);
    assert.match(text, /^PRIVATE_FOLDER='\/var\/lib\/etcd'$/m);
    const files = [{ path: UNIT_FILE, content: "[Service]\n", mode: "0600" }];
    assert.match(textFor(exampleSpecification({ files })), /^PRIVATE_PATHS=\(\)$/m);
  });

  it("refuses an answer that is none", () => {
    for (const answer of ["Welcome!", "YQ== - - - - -"])
      assert.throws(() => parseConfigurationDifferences(answer), /something else/);
    assert.deepEqual(parseConfigurationDifferences(""), []);
  });
});
