import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  agentConfiguration,
  agentProgram,
  installersOf,
  installerText,
} from "../../../../../providers/kubeadm/machine/node-agent";
import { sourceParameters } from "../../../../../providers/kubeadm/machine/parameters";
import { assertGolden } from "../../../golden";
import { exampleMachine, exampleSpecification } from "../machine/examples";
import { ShellMachine } from "../machine/run-shell";

const COMMUNITY_KEY = "DE15B14486CD377B9E876E1A234654DA9A296436";

describe("files on a node for its agent", () => {
  const settings = {
    node: "w-1",
    annotations: "alpha.[software].caos.ch",
    ignorePreflightErrors: ["Swap"],
    revision: "0123456789ab",
  };
  it("are a configuration as reviewed", () => assertGolden("node-agent.conf", agentConfiguration(settings)));

  it("are a program in valid bash, whose variables come first", () => {
    const text = agentProgram();
    assert.match(text, /^#!\/bin\/bash\n# foresail: node agent [0-9.]+\n([A-Z_]+='[^']*'\n)+\n/);
    assert.equal(spawnSync("bash", ["-n"], { input: text, encoding: "utf8" }).stderr, "");
  });

  it("support any annotation pattern", () => {
    const text = agentConfiguration({ ...settings, annotations: "[software].example.org" });
    assert.match(text, /key_allowed='node\.example\.org\/changes-allowed'/);
    assert.match(text, /\[kubelet\]='kubelet\.example\.org\/desired-version'/);
  });

  it("are an installer for each version of each software, valid bash, none for what is not staged", () => {
    const staged = { kubernetes: ["1.36.3", "1.35.4"], software: { containerd: "1.7.2" } };
    const bundle = { path: "/opt/bundle/v{version}" };
    const installers = installersOf(
      exampleSpecification({ source: { bundle } }),
      staged,
      exampleMachine("w-1"),
    );
    assert.deepEqual(
      installers.map(({ software, version }) => `${software} ${version}`),
      [
        "node-agent 1.15.0",
        ...["1.36.3", "1.35.4"].flatMap((version) =>
          ["kubelet", "kubeadm", "kubectl", "images"].map((software) => `${software} ${version}`),
        ),
        "containerd 1.7.2",
      ],
    );
    for (const { software, version, header } of installers) {
      const input = `${header}\n${installerText({ bundle })}\n`;
      assert.equal(spawnSync("bash", ["-n"], { input, encoding: "utf8" }).stderr, "", software);
      if (version === "1.35.4")
        assert.ok(header.includes("/opt/bundle/v1.35.4") && !header.includes("1.36.3"));
    }
  });

  it("leave images to a registry that has them", () => {
    const source = { packages: { repository: "https://pkgs.k8s.io/core:/stable:/v{minor}/deb/" } };
    const installers = installersOf(
      exampleSpecification({ source }),
      { kubernetes: ["1.36.3"], software: {} },
      exampleMachine("w-1"),
    );
    assert.ok(!installers.some(({ software }) => software === "images"));
    const kubeadm = installers.find(({ software }) => software === "kubeadm");
    const machine = new ShellMachine();
    for (const name of ["dpkg-query", "curl", "dpkg", "apt-mark", "apt-get", "apt-cache"])
      machine.program(name, `echo "${name} $*"; ${name === "apt-cache" ? "echo '| 1.36.3-1.1 |'" : ""}`);
    machine.program("curl", 'touch "${@: -1}"');
    const { stdout } = machine.run({}, {}, `${kubeadm?.header}\n${installerText(source)}`, ["install"]);
    assert.deepEqual(
      stdout.split("\n").filter((line) => line.startsWith("apt-get") || line.startsWith("apt-mark")),
      [
        "apt-get --yes --quiet update -o Dir::Etc::sourcelist=sources.list.d/foresail-kubernetes.list.new -o Dir::Etc::sourceparts=- -o APT::Get::List-Cleanup=0 -o APT::Update::Error-Mode=any",
        "apt-get --yes --quiet -o Dpkg::Options::=--force-confdef -o Dpkg::Options::=--force-confold --no-remove install --no-install-recommends --allow-downgrades --allow-change-held-packages kubeadm=1.36.3-*",
        "apt-mark hold kubeadm",
      ],
    );
    // a machine that was a node before has the package, and no hold of it
    machine.program("dpkg-query", "echo 'installed 1.36.3-1.1'");
    const again = machine.run({}, {}, `${kubeadm?.header}\n${installerText(source)}`, ["install"]);
    assert.equal(again.stdout, "apt-mark hold kubeadm\n");
  });

  it("accept the community's key without a field in the configuration and the state", () => {
    const source = { packages: { repository: "https://pkgs.k8s.io/core:/stable:/v{minor}/deb/" } };
    assert.equal(sourceParameters({ source }, "1.36.3").KEY_FINGERPRINT, COMMUNITY_KEY);
    const others = { packages: { ...source.packages, keyFingerprint: "A1".repeat(20) } };
    assert.equal(sourceParameters({ source: others }, "1.36.3").KEY_FINGERPRINT, "A1".repeat(20));
  });
});
