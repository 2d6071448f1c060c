import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { agentConfiguration } from "../../../../../providers/kubeadm/machine/node-agent/configuration";
import { installersOf } from "../../../../../providers/kubeadm/machine/node-agent/installers";
import { agentProgram } from "../../../../../providers/kubeadm/machine/node-agent/program";
import { AGENT_UNIT } from "../../../../../providers/kubeadm/machine/node-agent/unit";
import { assertGolden } from "../../../golden";
import { exampleSpecification } from "../machine/examples";

describe("what lies on a node for its agent", () => {
  const settings = {
    node: "w-1",
    annotations: "alpha.[software].caos.ch",
    ignorePreflightErrors: ["Swap"],
    revision: "0123456789ab",
  };
  const texts: Record<string, string> = {
    "node-agent-program.sh": agentProgram(),
    "node-agent.service": AGENT_UNIT,
    "node-agent.conf": agentConfiguration(settings),
  };
  for (const [file, text] of Object.entries(texts))
    it(`${file} is as reviewed`, () => {
      assertGolden(file, text);
      if (file.endsWith(".service")) return;
      assert.equal(spawnSync("bash", ["-n"], { input: text, encoding: "utf8" }).stderr, "");
    });

  it("asks for annotations by any pattern", () => {
    const text = agentConfiguration({ ...settings, annotations: "[software].example.org" });
    assert.match(text, /key_allowed='node\.example\.org\/changes-allowed'/);
    assert.match(text, /\[kubelet\]='kubelet\.example\.org\/desired-version'/);
  });

  it("is an installer for each version of each software, valid bash, none for what is not staged", () => {
    const staged = { kubernetes: ["1.36.3", "1.35.4"], software: { containerd: "1.7.2" } };
    const bundle = { path: "/opt/bundle/v{version}" };
    const installers = installersOf(exampleSpecification({ source: { bundle } }), staged);
    assert.deepEqual(
      installers.map(({ software, version }) => `${software} ${version}`),
      [
        "node-agent 1.1.0",
        ...["1.36.3", "1.35.4"].flatMap((version) =>
          ["kubelet", "kubeadm", "kubectl", "images"].map((software) => `${software} ${version}`),
        ),
        "containerd 1.7.2",
      ],
    );
    for (const { software, version, text } of installers) {
      const { stderr } = spawnSync("bash", ["-n"], { input: text, encoding: "utf8" });
      assert.equal(stderr, "", software);
      if (version === "1.35.4") assert.ok(text.includes("/opt/bundle/v1.35.4") && !text.includes("1.36.3"));
    }
  });

  it("is no images installer where a registry has them", () => {
    const source = { packages: { repository: "https://packages.example.com/v{minor}/deb/" } };
    const installers = installersOf(exampleSpecification({ source }), {
      kubernetes: ["1.36.3"],
      software: {},
    });
    assert.ok(!installers.some(({ software }) => software === "images"));
    const kubeadm = installers.find(({ software }) => software === "kubeadm");
    assert.match(kubeadm?.text ?? "", /apt-get install .* 'kubeadm=1\.36\.3-\*'$/m);
  });
});
