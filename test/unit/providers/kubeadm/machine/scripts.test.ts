import { machineReadingScript } from "../../../../../providers/kubeadm/machine/facts/machine-reading";
import { packageOfferScript } from "../../../../../providers/kubeadm/machine/rollout/package-offer";
import {
  configurationDifferencesScript,
  triedKubeProxyScript,
} from "../../../../../providers/kubeadm/machine/configuration/configuration-differences";
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import { rewrittenSettingsScript } from "../../../../../providers/kubeadm/machine/adoption/rewritten-settings";
import * as adoption from "../../../../../providers/kubeadm/machine/adoption/adoption-steps";
import * as backups from "../../../../../providers/kubeadm/machine/backup/backup-steps";
import { acceptDriftScript, driftScript } from "../../../../../providers/kubeadm/machine/drift/drift-steps";
import { proxyVariables } from "../../../../../providers/kubeadm/machine/parameters";
import { quote, shellCommands, shellFile } from "../../../../../providers/kubeadm/machine/shell";
import {
  adminKubeconfigScript,
  controlPlaneSecretsScript,
  configureClusterScript,
  endpointScript,
  factsScript,
  initializedScript,
  initScript,
  joinData,
  agentParameters,
  joinScript,
  forgetMembershipScript,
  leaveControlPlaneScript,
  nodeAgentScript,
  prepareScript,
  rebootScript,
  registerScript,
  resetScript,
  restartKubeProxyScript,
  type Script,
} from "../../../../../providers/kubeadm/machine/steps";
import {
  etcdMembersScript,
  etcdRemoveScript,
  parseEtcdMembers,
} from "../../../../../providers/kubeadm/machine/membership/etcd-steps";
import {
  encryptionKeyScript,
  encryptionKeysScript,
  encryptionStaleScript,
  encryptionStatusScript,
} from "../../../../../providers/kubeadm/machine/encryption/encryption-steps";
import { filesBelow } from "../../../docs/project";
import { assertGolden } from "../../../golden";
import { etcdAlarmsScript } from "../../../../../providers/kubeadm/machine/membership/etcd-alarms";
import * as endpoints from "../../../../../providers/kubeadm/machine/endpoint/endpoint-steps";
import { configurationVersions } from "../../../../../providers/kubeadm/plan/configuration/configuration";
import { agentScripts } from "./agent-scripts";
import { certificateScripts, exampleMachine, exampleSpecification, FOREIGN } from "./examples";
import { ownerScripts } from "./owner-scripts";
import { ShellMachine } from "./run-shell";

const backends = [{ name: "cp-1", address: "10.0.0.11" }];
const machines = [...backends, { name: "w-1", address: "10.0.0.101" }];
const everything = exampleSpecification({
  source: {
    packages: { repository: "https://packages.example.com/v{minor}/deb/", keyFingerprint: "A1".repeat(20) },
  },
  endpoint: { external: { host: "api.example.com", port: 6443 } },
  network: {
    podCidr: "10.244.0.0/16",
    serviceCidr: "10.96.0.0/12",
    dnsDomain: "cluster.local",
    bridge: false,
  },
  files: [
    {
      path: "/etc/kubernetes/policy's.yaml",
      content: "a: $HOME\n'quoted'\n",
      mode: "0600",
      owner: "root:root",
    },
  ],
  proxy: { http: "http://proxy.example.com:3128", noProxy: [".example.com"] },
  registryMirrors: { "docker.io": ["https://mirror.example.com"] },
  imageRepository: "registry.example.com/k8s",
  caBundle: "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n",
});
const member = { id: "42", name: "cp-1", peerUrls: [], healthy: true };
const PATTERN = "alpha.[software].caos.ch";
const versioned = exampleSpecification({
  source: { bundle: { path: "/opt/foresail/bundle/v{version}" } },
  ignorePreflightErrors: ["Swap", "SystemVerification"],
});

const scripts: Record<string, Script> = {
  "machine-reading": machineReadingScript({
    specification: everything,
    machine: exampleMachine("w-1"),
    podNetwork: "cilium",
    internalAddress: "10.0.0.101",
    neighbors: ["cp-1 10.0.0.11 22"],
    addresses: ["10.0.0.11", "10.0.0.101"],
    backends,
  }),
  "prepare-bundle": prepareScript(exampleSpecification(), exampleMachine("w-1"), backends),
  "prepare-packages": prepareScript(everything, exampleMachine("w-1"), backends, machines),
  initialized: initializedScript("demo", "w-1"),
  facts: factsScript("demo", "cp-1"),
  reboot: rebootScript("demo", "w-1"),
  "admin-kubeconfig": adminKubeconfigScript("demo", "cp-1"),
  init: initScript(exampleSpecification(), "cp-1", "foresail-1"),
  "encryption-status": encryptionStatusScript("demo", "cp-1"),
  "encryption-key": encryptionKeyScript("demo", "cp-1", "foresail-2"),
  "encryption-keys": encryptionKeysScript("demo", "cp-1", {
    keys: ["foresail-1", "foresail-2"],
    mayCreate: true,
    seconds: 600,
  }),
  "encryption-stale": encryptionStaleScript("demo", "cp-1", "foresail-2"),
  ...certificateScripts,
  "control-plane-secrets": controlPlaneSecretsScript("demo", "cp-1"),
  "join-control-plane": joinScript(exampleSpecification({ version: "1.35.4" }), exampleMachine("cp-2")),
  "join-worker": joinScript(everything, exampleMachine("w-1")),
  "join-with-agent": joinScript(versioned, exampleMachine("w-1"), {
    agent: agentParameters(versioned, exampleMachine("w-1"), {
      annotations: PATTERN,
      staged: { kubernetes: ["1.36.3"], software: {} },
    }),
  }),
  "configuration-differences": configurationDifferencesScript(versioned, exampleMachine("w-1"), [], {
    ...{ removed: ["/etc/old"], kubeadm: true },
  }),
  "tried-kube-proxy": triedKubeProxyScript("demo", "cp-1"),
  ...{ register: registerScript("demo", "w-1"), endpoint: endpointScript("demo", "w-1", 8443, backends) },
  "endpoint-facts": endpoints.endpointFactsScript(exampleSpecification(), "cp-1"),
  "move-endpoint": endpoints.moveEndpointScript(exampleSpecification(), "cp-1", ["lb:6443"]),
  ...{ "etcd-alarms": etcdAlarmsScript("demo", "cp-1"), "etcd-members": etcdMembersScript("demo", "cp-1") },
  "etcd-snapshot": backups.etcdSnapshotScript("demo", "cp-1"),
  "restore-facts": backups.restoreFactsScript("demo", "cp-1"),
  "fence-control-plane": backups.fenceControlPlaneScript("demo", "cp-2"),
  "restore-control-plane": backups.restoreControlPlaneScript("demo", "cp-1", {
    ...{ snapshot: "demo 2026-11-28T00:15:33Z 19678", gone: ["cp-2"] },
  }),
  "finish-restore": backups.finishRestoreScript("demo", "cp-1"),
  "etcd-remove": etcdRemoveScript("demo", "cp-1", member),
  "leave-control-plane": leaveControlPlaneScript("demo", "cp-2"),
  "forget-membership": forgetMembershipScript("demo", "cp-2"),
  ...{ reset: resetScript("demo", "w-1"), ...ownerScripts },
  "adoption-facts": adoption.adoptionFactsScript("demo", "w-1"),
  "adoption-access": adoption.adoptionAccessScript("demo", "cp-1"),
  "adoption-settings": adoption.adoptionSettingsScript(versioned, versioned, exampleMachine("cp-1")),
  "package-offer": packageOfferScript(everything, "w-1", "1.7.24~ds1-1", ["10.0.0.11"]),
  "rewritten-settings": rewrittenSettingsScript({ machine: exampleMachine("cp-1"), addons: ["coredns"] }),
  adopt: adoption.adoptScript("demo", "w-1", "a1".repeat(32)),
  ...{ release: adoption.releaseScript("demo", "w-1"), ...agentScripts },
  ...{ drift: driftScript("demo", "w-1"), "drift-accept": acceptDriftScript("demo", "w-1", "/etc/motd") },
  "node-agent-bundle": nodeAgentScript(versioned, exampleMachine("w-1"), {
    annotations: PATTERN,
    staged: { kubernetes: ["1.36.3", "1.35.4"], software: {} },
  }),
  "node-agent-packages": nodeAgentScript(
    everything,
    exampleMachine("w-1"),
    {
      annotations: PATTERN,
      staged: {
        kubernetes: ["1.36.3"],
        software: {
          containerd: "1.6.20~ds1-1+deb12u1",
          "os-packages": "2026-11-01",
          "os-updates": "security",
        },
      },
    },
    machines,
  ),
  "node-agent-configuration": nodeAgentScript(everything, exampleMachine("cp-1"), {
    annotations: PATTERN,
    staged: {
      ...{ kubernetes: ["1.36.3"], software: {} },
      configuration: { versions: configurationVersions(everything), removed: ["/etc/motd"] },
    },
  }),
  "configure-cluster": configureClusterScript("demo", "cp-1", { upload: true, kubeProxy: false }),
  "restart-kube-proxy": restartKubeProxyScript("demo", "cp-1"),
};

const FOLDER = "providers/kubeadm/machine/";
// the longest first, since a short one may be part of another
const files = filesBelow(FOLDER, ".sh")
  .map((file) => file.slice(FOLDER.length, -".sh".length))
  .sort((one, other) => shellCommands(other).length - shellCommands(one).length);

/** Returns a script with the name of each shell file in place of its text, which is reviewed where it is. */
function withoutTexts(script: string): string {
  const escape = (text: string) => quote(text).slice(1, -1);
  return files.reduce((text, file) => {
    const own = shellFile(file);
    return [shellCommands(file), own, escape(own), escape(escape(own))].reduce(
      (rest, each) => rest.replaceAll(each, `# ${file}.sh`),
      text,
    );
  }, script);
}

describe("remote scripts", () => {
  it("have the reviewed variables", () => {
    const texts = Object.entries(scripts).map(
      ([name, script]) => `==== ${name}\n${withoutTexts(script.text)}\n`,
    );
    assertGolden("remote-scripts.txt", texts.join("\n"));
  });

  for (const [name, script] of Object.entries(scripts)) {
    it(`${name} names its step first, is valid bash and sets every variable that it uses`, () => {
      assert.ok(script.text.startsWith(`# foresail: ${script.operation} ${script.machine}\n`));
      const parsed = spawnSync("bash", ["-n"], { input: `{\n${script.text}\n}\n`, encoding: "utf8" });
      assert.deepEqual([parsed.stderr, parsed.status], ["", 0]);
      const set = new Set([...script.text.matchAll(/^([A-Z][A-Z0-9_]+)=/gm)].map(([, each]) => each));
      const used = [...script.text.matchAll(/\$\{?[!#]?([A-Z][A-Z0-9_]+)/g)].map(([, each]) => each);
      const missing = used.filter((each = "") => !set.has(each) && !FOREIGN.includes(each));
      assert.deepEqual(
        missing.filter((each) => !each?.startsWith("KUBELET_")),
        [],
      );
    });
  }

  it("omit comments and blank lines, except in the files that they write", () => {
    const text = shellCommands("common/endpoint");
    assert.doesNotMatch(text, /Configures haproxy/);
    const blank = text.split("\n").filter((line) => line === "");
    assert.ok(blank.length > 0);
    assert.match(text, /^# written by foresail; changed/m);
  });

  it("use every shell file", () => {
    const all = Object.values(scripts)
      .map((script) => withoutTexts(script.text))
      .join("\n");
    assert.deepEqual(
      files.filter((file) => !all.includes(`# ${file}.sh`)),
      [],
    );
  });

  it("quote words so that the shell reads them back", () => {
    for (const word of ["", "plain", "it's", "$(id)", "a b", "'"]) {
      assert.equal(spawnSync("bash", ["-c", `printf %s ${quote(word)}`], { encoding: "utf8" }).stdout, word);
    }
  });

  it("set a proxy for containerd, the kubelet, apt and their own programs", () => {
    const machine = new ShellMachine();
    const PROXY = proxyVariables(
      exampleSpecification({ proxy: { http: "http://p.example.com:1", noProxy: [] } }),
      [],
    );
    const { stdout } = machine.run(
      { "common/settings": "all" },
      { PROXY, CA_BUNDLE: "" },
      'HTTPS_PROXY=other; configure_environment; bash -c \'echo "$HTTP_PROXY $http_proxy"\'; echo "$restart_containerd"',
    );
    assert.equal(stdout, "http://p.example.com:1 http://p.example.com:1\nyes\n");
    const dropIn = machine.path("/etc/systemd/system/kubelet.service.d/foresail-proxy.conf");
    assert.equal(
      readFileSync(dropIn, "utf8"),
      `[Service]\n${PROXY.map((variable) => `Environment="${variable}"\n`).join("")}`,
    );
    assert.equal(
      readFileSync(machine.path("/etc/apt/apt.conf.d/90foresail-proxy"), "utf8"),
      'Acquire::http::Proxy "http://p.example.com:1";\n',
    );
  });

  it("write the user and password of a proxy only to files that root alone can read, and take them away", () => {
    const machine = new ShellMachine();
    const path = (name: string) => machine.path(name);
    const credentials = { username: "node", password: `a'b"c %d$e:f@g` };
    const proxy = { http: "http://p.example.com:1", https: "http://p.example.com:2/", noProxy: [] };
    const configure = (own: object) =>
      machine.run(
        { "common/settings": "all" },
        { PROXY: proxyVariables(exampleSpecification({ proxy: { ...proxy, ...own } }), []), CA_BUNDLE: "" },
        'configure_environment; env | grep -c "://node:" || true; echo "$restart_containerd"',
      ).stdout;
    const files = ["/etc/foresail/proxy.env", "/etc/apt/apt.conf.d/90foresail-proxy"];
    const units = ["kubelet", "containerd"].map(
      (unit) => `/etc/systemd/system/${unit}.service.d/foresail-proxy.conf`,
    );
    const encoded = "node:a%27b%22c%20%25d%24e%3Af%40g@p.example.com";
    assert.equal(configure({ credentials }), "4\nyes\n");
    assert.equal(configure({ credentials }), "4\nno\n");
    for (const file of files) {
      assert.ok(readFileSync(path(file), "utf8").includes(`http://${encoded}:2/"`), file);
      assert.equal(statSync(path(file)).mode & 0o777, 0o600, file);
    }
    for (const unit of units)
      assert.equal(readFileSync(path(unit), "utf8"), `[Service]\nEnvironmentFile=-${path(files[0]!)}\n`);
    assert.equal(configure({}), "0\nyes\n");
    assert.equal(existsSync(path(files[0]!)), false);
    assert.equal(statSync(path(files[1]!)).mode & 0o777, 0o644);
    for (const file of [...units, files[1]!])
      assert.doesNotMatch(readFileSync(path(file), "utf8"), /node:|@/);
  });

  it("pass the parts of a join as three lines", () => {
    const lines = joinData({ configuration: "a\nb", discovery: "c", secrets: "ZA==" }).split("\n");
    assert.deepEqual(
      lines.slice(0, 2).map((line) => Buffer.from(line, "base64").toString()),
      ["a\nb", "c"],
    );
    assert.deepEqual(lines.slice(2), ["ZA==", ""]);
    assert.equal(joinData({ configuration: "a", discovery: "c" }).split("\n")[2], "");
  });

  it("read etcd's response, and refuse anything else", () => {
    const answer =
      '{"members":[{"ID":"1","name":"cp-1","peerURLs":["https://10.0.0.11:2380"],"clientURLs":["https://10.0.0.11:2379"]},' +
      '{"ID":"2","peerURLs":["https://10.0.0.12:2380"]}]}\nhealthy https://10.0.0.11:2379\n';
    assert.deepEqual(parseEtcdMembers(answer), [
      { id: "1", name: "cp-1", peerUrls: ["https://10.0.0.11:2380"], healthy: true },
      { id: "2", name: "", peerUrls: ["https://10.0.0.12:2380"], healthy: false },
    ]);
    assert.throws(() => parseEtcdMembers('{"error":"x"}'), /no members/);
  });
});
