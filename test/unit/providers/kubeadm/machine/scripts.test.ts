import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  configureContainerd,
  configureEnvironment,
  hostsToml,
  registryCredentialsToml,
} from "../../../../../providers/kubeadm/machine/steps/container-runtime";
import { endpointScript } from "../../../../../providers/kubeadm/machine/steps/endpoint";
import {
  etcdMembersScript,
  etcdRemoveScript,
  parseEtcdMembers,
} from "../../../../../providers/kubeadm/machine/steps/etcd";
import { adminKubeconfigScript, factsScript } from "../../../../../providers/kubeadm/machine/steps/facts";
import { initScript } from "../../../../../providers/kubeadm/machine/steps/init";
import {
  controlPlaneSecretsScript,
  joinData,
  joinScript,
  registerScript,
} from "../../../../../providers/kubeadm/machine/steps/join";
import { nodeAgentScript } from "../../../../../providers/kubeadm/machine/steps/node-agent";
import { prepareScript } from "../../../../../providers/kubeadm/machine/steps/prepare";
import { leaveControlPlaneScript, resetScript } from "../../../../../providers/kubeadm/machine/steps/reset";
import { quote, writeFile, type Script } from "../../../../../providers/kubeadm/machine/steps/script";
import { assertGolden } from "../../../golden";
import { exampleMachine, exampleSpecification } from "./examples";

const backends = [{ name: "cp-1", address: "10.0.0.11" }];
const everything = exampleSpecification({
  source: { packages: { repository: "https://packages.example.com/v{minor}/deb/" } },
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
  "prepare-bundle.sh": prepareScript(exampleSpecification(), exampleMachine("w-1"), backends),
  "prepare-packages.sh": prepareScript(everything, exampleMachine("w-1"), backends),
  "facts.sh": factsScript("demo", "cp-1"),
  "admin-kubeconfig.sh": adminKubeconfigScript("demo", "cp-1"),
  "init.sh": initScript("demo", "cp-1", true),
  "control-plane-secrets.sh": controlPlaneSecretsScript("demo", "cp-1"),
  "join-control-plane.sh": joinScript(exampleSpecification({ version: "1.35.4" }), "cp-2", "control-plane"),
  "join-worker.sh": joinScript(everything, "w-1", "worker"),
  "register.sh": registerScript("demo", "w-1"),
  "endpoint.sh": endpointScript("w-1", 8443, backends),
  "etcd-members.sh": etcdMembersScript("demo", "cp-1"),
  "etcd-remove.sh": etcdRemoveScript("demo", "cp-1", member),
  "leave-control-plane.sh": leaveControlPlaneScript("demo", "cp-2"),
  "reset.sh": resetScript("demo", "w-1"),
  "node-agent-bundle.sh": nodeAgentScript(versioned, "w-1", PATTERN, {
    kubernetes: ["1.36.3", "1.35.4"],
    software: {},
  }),
  "node-agent-packages.sh": nodeAgentScript(everything, "w-1", PATTERN, {
    kubernetes: ["1.36.3"],
    software: { containerd: "1.6.20~ds1-1+deb12u1", "os-packages": "2026-11-01" },
  }),
};

describe("remote scripts", () => {
  for (const [file, script] of Object.entries(scripts)) {
    it(`${file} is as reviewed, names its step first and is valid bash`, () => {
      assert.ok(script.text.startsWith(`# foresail: ${script.operation} ${script.machine}\n`));
      assertGolden(file, `${script.text}\n`);
      const parsed = spawnSync("bash", ["-n"], { input: `{\n${script.text}\n}\n`, encoding: "utf8" });
      assert.equal(parsed.stderr, "");
      assert.equal(parsed.status, 0);
    });
  }

  it("write a file byte for byte whatever it holds", () => {
    const content = "a 'b' \"c\" $HOME `id` \\n\n";
    const path = "/tmp/foresail-script-test";
    const ran = spawnSync(
      "bash",
      ["-c", `${writeFile(path, content)}\ncat ${path}; stat -c %a ${path}; rm ${path}`],
      {
        encoding: "utf8",
      },
    );
    assert.equal(ran.stdout, `${content}600\n`);
  });

  it("quote words so that the shell reads them back", () => {
    for (const word of ["", "plain", "it's", "$(id)", "a b", "'"]) {
      assert.equal(spawnSync("bash", ["-c", `printf %s ${quote(word)}`], { encoding: "utf8" }).stdout, word);
    }
  });

  it("take systemd cgroups unless the kubelet is told otherwise", () => {
    assert.match(configureContainerd(exampleSpecification()), /SystemdCgroup = \)\.\*\|\\1true/);
    assert.match(
      configureContainerd(exampleSpecification({ kubelet: { cgroupDriver: "cgroupfs" } })),
      /SystemdCgroup = \)\.\*\|\\1false/,
    );
  });

  it("write registry mirrors and credentials as containerd reads them", () => {
    assert.equal(
      hostsToml("docker.io", ["https://m.example.com"]),
      'server = "https://registry-1.docker.io"\n\n[host."https://m.example.com"]\n  capabilities = ["pull", "resolve"]\n',
    );
    assert.equal(
      registryCredentialsToml({ "r.example.com": { username: "u", password: 'p"w' } }),
      '[plugins."io.containerd.grpc.v1.cri".registry.configs."r.example.com".auth]\n  username = "u"\n  password = "p\\"w"\n',
    );
  });

  it("set a mode with setgid after the owner, who takes the bit away", () => {
    const withMode = (mode: string) =>
      prepareScript(
        exampleSpecification({ files: [{ path: "/opt/a", content: "x", mode, owner: "1000:1000" }] }),
        exampleMachine("w-1"),
        backends,
      ).text;
    assert.match(withMode("2755"), /^chown '1000:1000' '\/opt\/a'\nchmod 2755 '\/opt\/a'$/m);
    assert.doesNotMatch(withMode("0755"), /^chmod 0755 '\/opt\/a'$/m);
  });

  it("refuse to render a proxy that would end its quotes in a unit or in apt's settings", () => {
    for (const proxy of [
      { http: 'http://a.example.com/";\nDir "/', noProxy: [] },
      { https: "http://a.example.com/%n", noProxy: [] },
      { noProxy: ['a"\nExecStartPre=/bin/x "'] },
    ])
      assert.throws(() => configureEnvironment(exampleSpecification({ proxy })), /^Error: proxy\./);
  });

  it("hand a join its parts as three lines", () => {
    const lines = joinData({ configuration: "a\nb", discovery: "c", secrets: "ZA==" }).split("\n");
    assert.deepEqual(
      lines.slice(0, 2).map((line) => Buffer.from(line, "base64").toString()),
      ["a\nb", "c"],
    );
    assert.deepEqual(lines.slice(2), ["ZA==", ""]);
    assert.equal(joinData({ configuration: "a", discovery: "c" }).split("\n")[2], "");
  });

  it("read etcd's answer, and refuse what isn't one", () => {
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
