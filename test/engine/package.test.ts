import assert from "node:assert/strict";
import { mkdirSync, realpathSync, renameSync, writeFileSync } from "node:fs";
import path from "node:path";
import { stringify } from "yaml";
import { removeFolder } from "./compiled-clone";
import { machineEntry } from "./desired-cluster";
import { makeInstalledProject } from "./installed-package";
import { observedCluster } from "./observed-cluster";
import { simulatedFixture } from "./simulated-fixture";
import { TestStack } from "./test-stack";

/** A program as the documentation shows it. */
const PROGRAM = `
const pulumi = require("@pulumi/pulumi");
const { KubeadmCluster } = require("foresail");

const config = new pulumi.Config();
const cluster = new KubeadmCluster("mine", {
  version: "1.36.3",
  source: { bundle: { path: "/opt/bundle" } },
  network: { plugin: { bridge: {} } },
  ssh: { privateKey: config.requireSecret("sshPrivateKey") },
  machines: config.requireObject("machines"),
});
exports.kubeconfig = cluster.kubeconfig;
exports.nodes = cluster.nodes;
`;

describe("the package in another Pulumi project", function () {
  this.timeout(600_000);
  const fixture = simulatedFixture({ machines: ["cp-1", "w-1"] });
  let folder: string;
  let stack: TestStack;

  before(async () => {
    folder = makeInstalledProject();
    const runtime = { name: "nodejs", options: { typescript: false } };
    const project = { name: "other", runtime, main: "index.js", stackConfigDir: "stacks/config" };
    mkdirSync(path.join(folder, "stacks", "config"), { recursive: true });
    writeFileSync(path.join(folder, "Pulumi.yaml"), stringify(project));
    writeFileSync(path.join(folder, "package.json"), JSON.stringify({ name: "other", private: true }));
    writeFileSync(path.join(folder, "index.js"), PROGRAM);
    stack = await new TestStack({ folder, project: "other", stack: "dev" }, fixture.toolchain).create();
    await stack.setSecret("sshPrivateKey", fixture.fleet.privateKey);
    stack.configure({ machines: ["cp-1", "w-1"].map((name) => machineEntry(fixture.fleet, name)) });
  });
  after(() => folder && removeFolder(folder));

  it("brings up a cluster with `new KubeadmCluster`, and changes nothing the second time", async () => {
    await stack.up();
    assert.deepEqual(await observedCluster(fixture.kubernetes), {
      "cp-1": { group: "control-plane", ready: true },
      "w-1": { group: "workers", ready: true },
    });
    const { kubeconfig, nodes } = await stack.outputs();
    assert.match(String(kubeconfig), /client-key-data/);
    assert.deepEqual(
      (nodes as { name: string }[]).map(({ name }) => name),
      ["cp-1", "w-1"],
    );
    assert.deepEqual(Object.keys(await stack.up()), ["unchanged"]);
  });

  it("is found from a project that has it only beside a library of its own, as pnpm installs it", async () => {
    const library = path.join(folder, "library");
    mkdirSync(path.join(library, "node_modules"), { recursive: true });
    renameSync(path.join(folder, "node_modules", "foresail"), path.join(library, "node_modules", "foresail"));
    writeFileSync(path.join(library, "index.js"), 'module.exports = require("foresail");');
    writeFileSync(path.join(folder, "index.js"), PROGRAM.replace('"foresail"', '"./library"'));
    assert.deepEqual(Object.keys(await stack.up()), ["unchanged"]);
    assert.equal(
      realpathSync(path.join(folder, "node_modules", "foresail")),
      realpathSync(path.join(library, "node_modules", "foresail")),
    );
  });

  it("destroys it", async () => {
    await stack.destroy();
    assert.deepEqual(
      [fixture.fleet.state("cp-1").marker, fixture.fleet.state("w-1").marker],
      [undefined, undefined],
    );
  });
});
