import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { parse } from "yaml";
import { annotationKeys } from "../../../../../providers/kubeadm/plan/rollout/annotations";
import { CERTIFICATES_OF_KUBEADM, certificateWith, placeCertificate } from "../machine/certificates";
import { LOCAL_KUBECTL } from "../machine/local-kubectl";
import { ShellMachine } from "../machine/run-shell";
import { AgentMachine } from "./agent-machine";

const KEYS = annotationKeys();
const PKI = "/etc/kubernetes/pki";
const BEFORE = "aaaaaa.bbbbbb.cccccc";
const AFTER = `${BEFORE}.dddddd.ffffff`;

describe("a node agent whose API server gets other names", function () {
  this.timeout(120_000);
  const [old, fresh] = [["old"], ["new"]].map((names) => certificateWith(names));

  /** A control plane, of which the installer stages a certificate and puts the old one back. */
  function controlPlane(version = AFTER): AgentMachine {
    const machine = new AgentMachine({ controlPlane: true, version: "1.36.3", staged: ["1.36.3"] });
    for (const [name, text] of [
      ["crt", old!],
      ["key", "old key\n"],
    ])
      machine.put(`${PKI}/apiserver.${name}`, text);
    machine.put("/new.crt", fresh);
    const { folder } = machine;
    const pki = `${folder}${PKI}`;
    machine.stage(
      "configuration",
      version,
      `if [ "$1" = certificate ] && ! cmp --silent ${folder}/new.crt ${pki}/apiserver.crt; then
  cp ${pki}/apiserver.* ${folder}/state; mkdir "$2"; cp ${folder}/new.crt "$2/apiserver.crt"; echo new key >"$2/apiserver.key"
elif [ "$1" = baseline ]; then printf ${BEFORE}.dddddd.eeeeee
elif [ "$1" = restore ] && [ -e ${folder}/state/apiserver.crt ]; then cp ${folder}/state/apiserver.* ${pki}; fi`,
    );
    machine.setDesired("1.36.3");
    machine.annotate(KEYS.desired("configuration"), version);
    machine.put("/var/lib/foresail/agent/configuration", BEFORE);
    return machine;
  }
  const pairOf = (machine: AgentMachine) =>
    ["crt", "key"].map((name) => machine.read(`${PKI}/apiserver.${name}`));
  const publicKeyOf = (certificate: string) =>
    execFileSync("openssl", ["x509", "-noout", "-pubkey"], { input: certificate, encoding: "utf8" });

  it("replaces certificate and key, and waits until the API server is ready with them before kubeadm writes", () => {
    const machine = controlPlane();
    const { status, output } = machine.run("--once");
    assert.equal(status, 0, output);
    assert.deepEqual(pairOf(machine), [fresh, "new key\n"]);
    assert.equal(machine.exists("/etc/kubernetes/.foresail-certificate"), false);
    const [replaced, asked, written] = [
      " certificate",
      "--pinnedpubkey",
      "kubeadm upgrade node phase control-plane",
    ].map((call) => machine.calls.findIndex((made) => made.includes(call)));
    assert.ok(replaced! >= 0 && replaced! < asked! && asked! < written!, machine.calls.join("\n"));
    assert.match(machine.calls[asked!]!, /https:\/\/127\.0\.0\.1:6443\/readyz$/);
    assert.equal(machine.read("/var/lib/foresail/agent/certificate.pub"), publicKeyOf(fresh!));
    assert.equal(machine.annotations[KEYS.current("configuration")], AFTER);
  });

  it("leaves them alone when this part of the version stays, or is that of the baseline", () => {
    for (const [before, now] of [
      [`${BEFORE.replace("cccccc", "999999")}.dddddd.ffffff`, AFTER],
      [BEFORE, `${BEFORE.replace("cccccc", "999999")}.dddddd.eeeeee`],
    ] as const) {
      const machine = controlPlane(now);
      machine.put("/var/lib/foresail/agent/configuration", before);
      assert.equal(machine.run("--once").status, 0);
      assert.deepEqual(pairOf(machine), [old, "old key\n"]);
    }
  });

  it("goes back when the API server is not ready with them, before anything else changes", () => {
    const machine = controlPlane();
    machine.fail("--pinnedpubkey", "not ready", 100);
    assert.equal(machine.run("--once").status, 1);
    assert.deepEqual(pairOf(machine), [old, "old key\n"]);
    assert.equal(machine.read("/var/lib/foresail/agent/certificate.pub"), publicKeyOf(old!));
    assert.doesNotMatch(machine.calls.join("\n"), /kubeadm upgrade/);
    const message = machine.annotations[KEYS.message] ?? "";
    assert.match(message, /^the API server is not ready with its new certificate.*went back to its previous/);
  });

  it("puts the key in place after a power cut between the two, before it asks the API server for anything", () => {
    const machine = controlPlane();
    machine.put(`${PKI}/apiserver.crt`, fresh);
    machine.put("/etc/kubernetes/.foresail-certificate/apiserver.key", "new key\n");
    machine.fail("kubectl", "connection refused", 1000);
    machine.run("--once");
    assert.deepEqual(pairOf(machine), [fresh, "new key\n"]);
    assert.equal(machine.exists("/etc/kubernetes/.foresail-certificate"), false);
  });
});

describe("the certificate that the installer of a configuration creates", () => {
  let machine: ShellMachine;
  const CONFIGURATION = `apiServer:
  certSANs:
  - 127.0.0.1
  - '*.example.org'
  - "api.example.org"
  extraArgs:
  - name: profiling
    value: "false"
certificatesDir: /etc/theirs
kind: ClusterConfiguration
networking:
  dnsDomain: cluster.local
`;
  const ca = `${PKI}/ca.key`;

  beforeEach(() => {
    machine = new ShellMachine();
    machine.program("kubelet", "echo Kubernetes v1.36.3");
    machine.write("/etc/kubernetes/manifests/etcd.yaml", "    - --name=cp-2\n");
    placeCertificate(machine, ["cp-2", "old.example.org", "by-hand.example.org", "10.0.0.2"]);
    machine.write("/usr/local/bin/kubeadm", `#!/bin/bash\n${CERTIFICATES_OF_KUBEADM}\n`, 0o755);
    clusterHas(CONFIGURATION);
  });

  const clusterHas = (configuration: string) => {
    machine.write("/cluster.yaml", configuration);
    machine.program("kubectl", `${LOCAL_KUBECTL}\ncat ${machine.path("/cluster.yaml")}`);
  };
  const run = (command: string) =>
    machine.run(
      {
        ...{ "common/settings": "all", "common/adopted": "all", "common/etcd-manifest": "all" },
        "common/api-server-certificate": "all",
        "common/plain-yaml": "all",
        "node-agent/configuration": "all",
      },
      {
        ...{ AGENT_PATH: machine.path("/var/lib/foresail/agent"), MEMBER_PATH: machine.path("/member") },
        ...{ CA_BUNDLE: "", PROXY: [], REGISTRIES: [], REGISTRY_HOSTS: [], BASELINE: "" },
        ...{ FILE_PATHS: [], FILE_MODES: [], FILE_OWNERS: [], FILE_CONTENTS: [], REMOVED_PATHS: [] },
        ...{ REMOVED_NAMES: ["old.example.org"], ENDPOINT: "lb:6443", FORMER_ENDPOINTS: [] },
      },
      command,
    );
  const staged = "/etc/kubernetes/.foresail-certificate";
  const stage = () => run(`keep_previous; stage_certificate ${machine.path(staged)}`);
  const namesIn = (file: string) =>
    run(`names_in ${machine.path(file)}`)
      .stdout.trim()
      .split("\n");
  const read = (file: string) => readFileSync(machine.path(file), "utf8");

  it("leaves nothing of a try that was killed", () => {
    machine.write("/etc/kubernetes/.foresail-new.killed/apiserver.key", "a key\n");
    assert.equal(stage().status, 0);
    assert.deepEqual(readdirSync(machine.path("/etc/kubernetes")).sort(), [
      ".foresail-certificate",
      "manifests",
      "pki",
    ]);
  });

  it("has the names of the cluster's configuration and those that it had, but none that was taken away", () => {
    const { status, stdout, stderr } = stage();
    assert.deepEqual([status, stdout, stderr], [0, "", ""]);
    assert.deepEqual(namesIn(`${staged}/apiserver.crt`), [
      ...["*.example.org", "10.0.0.2", "127.0.0.1", "api.example.org"],
      ...["by-hand.example.org", "cp-2", "kubernetes"],
    ]);
    assert.deepEqual(readdirSync(machine.path(staged)), ["apiserver.crt", "apiserver.key"]);
    const modes = ["crt", "key"].map(
      (name) => statSync(machine.path(`${staged}/apiserver.${name}`)).mode & 0o777,
    );
    assert.deepEqual(modes, [0o640, 0o600]);
    assert.equal(read(`${PKI}/apiserver.key`), "old key\n");
  });

  const forms = {
    "in flow style": `{apiServer: {certSANs: [127.0.0.1, '*.example.org', "api.example.org"]}, kind: ClusterConfiguration}`,
    "as JSON": JSON.stringify(parse(CONFIGURATION), null, 4),
    "in other indentation, with quoted keys, comments and another order": `"kind": 'ClusterConfiguration' # by hand
"apiServer":
    extraArgs: [{name: profiling, value: "false"}]
    # names
    'certSANs':
        -   "127.0.0.1" # loopback
        -
            "*.example.org"
        - >-
            api.example.org
`,
  };
  for (const [form, text] of Object.entries(forms))
    it(`has the same names when kubeadm-config is written ${form}`, () => {
      clusterHas(text);
      const { status, stdout, stderr } = stage();
      assert.deepEqual([status, stdout, stderr], [0, "", ""]);
      assert.deepEqual(namesIn(`${staged}/apiserver.crt`), [
        ...["*.example.org", "10.0.0.2", "127.0.0.1", "api.example.org"],
        ...["by-hand.example.org", "cp-2", "kubernetes"],
      ]);
    });

  it("keeps its names when kubeadm-config has none", () => {
    clusterHas("kind: ClusterConfiguration\n");
    assert.equal(stage().status, 0);
    assert.deepEqual(namesIn(`${staged}/apiserver.crt`), [
      "10.0.0.2",
      "by-hand.example.org",
      "cp-2",
      "kubernetes",
    ]);
  });

  it("comes from kubeadm's own settings, whose authority and API server's names alone are replaced", () => {
    const { stdout } = run(`with_names ${machine.path("/cluster.yaml")} /run/scratch a,b`);
    const expected = CONFIGURATION.replace(/apiServer:[^]*value: "false"\n/, "")
      .replace("certificatesDir: /etc/theirs\n", "")
      .replace(
        "kind: ClusterConfiguration\n",
        `kind: ClusterConfiguration\ncertificatesDir: ${machine.path("/run/scratch")}\napiServer:\n  certSANs:\n  - "a"\n  - "b"\n`,
      );
    assert.equal(stdout, expected);
  });

  it("is not created again when the one in place has exactly these names, and is taken back with its key", () => {
    const before = read(`${PKI}/apiserver.crt`);
    stage();
    const pki = machine.path(PKI);
    run(`mv ${machine.path(staged)}/* ${pki}; rmdir ${machine.path(staged)}`);
    assert.notEqual(read(`${PKI}/apiserver.crt`), before);
    assert.deepEqual([stage().status, existsSync(machine.path(staged))], [0, false]);
    assert.equal(run("restore_configuration").status, 0);
    assert.deepEqual([read(`${PKI}/apiserver.crt`), read(`${PKI}/apiserver.key`)], [before, "old key\n"]);
  });

  for (const [why, spoil, says] of [
    [
      "the API server has another certificate",
      () =>
        machine.write(
          "/etc/kubernetes/manifests/kube-apiserver.yaml",
          "    - --tls-cert-file=/etc/own.crt\n",
        ),
      /has another certificate than kubeadm's/,
    ],
    ["the machine has no key of the authority", () => rmSync(machine.path(ca)), /has no .*pki\/ca\.key/],
    [
      "kubeadm refuses",
      () => machine.write("/usr/local/bin/kubeadm", "#!/bin/bash\necho wrong; exit 1\n", 0o755),
      /^kubeadm init phase certs apiserver: wrong$/m,
    ],
    [
      "kubeadm leaves names out",
      () => clusterHas("apiVersion: v1\nkind: Another\n"),
      /certificate without these names|^kubeadm init phase certs apiserver/m,
    ],
    ["kubeadm-config is no YAML", () => clusterHas("kind: [x\n"), /ConfigMap kubeadm-config can't be read/],
  ] as const)
    it(`is not staged when ${why}, and nothing is left behind`, () => {
      spoil();
      const { status, stdout } = stage();
      assert.equal(status, 65, stdout);
      assert.match(stdout, says);
      const left = readdirSync(machine.path("/etc/kubernetes")).sort();
      assert.deepEqual(left, ["manifests", "pki"]);
      assert.deepEqual(read(`${PKI}/apiserver.key`), "old key\n");
    });
});
