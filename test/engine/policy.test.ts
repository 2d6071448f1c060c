import assert from "node:assert/strict";
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { stringify } from "yaml";
import { generateKey } from "../../lib/ssh/generated-key";
import { cluster, controlPlane, HOST_KEY } from "../unit/stacks/schema/valid";
import { makeCompiledClone, removeFolder } from "./compiled-clone";
import { FleetCommand } from "./fleet-command";
import { makeInstalledProject } from "./installed-package";
import { engineToolchain, SET_UP_MILLISECONDS } from "./simulated-fixture";
import { TestStack } from "./test-stack";

describe("a preview with foresail's policy pack", function () {
  this.timeout(SET_UP_MILLISECONDS);
  let stack: TestStack;

  before(async () => {
    const folder = makeCompiledClone();
    stack = new TestStack({ folder, project: "foresail", stack: "prod" }, await engineToolchain());
    await stack.create();
    await stack.setSecret("sshPrivateKey", generateKey().private);
  });
  after(() => stack && removeFolder(stack.place.folder));

  const configure = (count: number, ofMachines: object, ofCluster: object) => {
    const machines = Array.from({ length: count }, (_, index) =>
      controlPlane({ name: `cp-${index}`, address: `192.0.2.1${index}`, ...ofMachines }),
    );
    stack.configure({ cluster: cluster({ machines, network: { plugin: { bridge: {} } }, ...ofCluster }) });
  };
  const development = ["--policy-pack-config", "policy/environments/development.json"];

  it("refuses what violates a rule, with the rule's name and the fix, also in the comment", async () => {
    configure(1, {}, {});
    const json = path.join(stack.place.folder, "preview.json");
    const foresail = new FleetCommand(stack);
    const preview = await foresail.run(
      ...["preview", "--stack", "prod", "--policy-pack", "policy", "--json", json],
    );
    assert.equal(preview.exitCode, 1, preview.stdout);
    for (const words of [
      "policy odd-control-planes: ClusterInit test-init: the cluster has 1 control planes, fewer than 3; use 3 control planes",
      "policy pinned-host-keys: HostKey test-cp-0-host-key: the host key of cp-0 is whatever answers at first contact; add hostKey to the machine cp-0",
      "policy protected-control-planes: ClusterInit test-init: ",
    ])
      assert.ok(preview.stderr.includes(words), preview.stderr);
    assert.doesNotMatch(readFileSync(json, "utf8"), /PRIVATE KEY/);
    const { stdout: comment } = await foresail.run("report", "--markdown", json);
    assert.match(comment, /the preview of `prod` failed[^]*policy odd-control-planes: ClusterInit test-init/);
  });

  it("accepts the same with the parameters of another environment, and remarks what is advisory", async () => {
    const preview = await new FleetCommand(stack).run(
      ...["preview", "--stack", "prod", "--policy-pack", "policy", ...development],
    );
    assert.equal(preview.exitCode, 0, preview.stderr);
    assert.match(preview.stdout, /remarks:\n +policy pinned-host-keys: HostKey test-cp-0-host-key: /);
    assert.doesNotMatch(preview.stdout, /odd-control-planes|protected-control-planes/);
  });

  it("stops up before anything is touched", async () => {
    configure(1, {}, {});
    const up = await new FleetCommand(stack).run(
      ...["up", "--stack", "prod", "--yes", "--policy-pack", "policy"],
    );
    assert.equal(up.exitCode, 1, up.stdout);
    assert.match(up.stderr, /policy odd-control-planes: ClusterInit test-init: /);
    assert.match(up.stdout, /^nothing was changed$/m);
    assert.deepEqual((await stack.export()).deployment.resources ?? [], []);
  });

  it("stops a fleet before anything is touched, with the pack and the parameters that fleet.yaml names", async () => {
    const { folder } = stack.place;
    const waves = [{ name: "all", stacks: ["prod"] }];
    const write = (name: string, value: object) => writeFileSync(path.join(folder, name), stringify(value));
    write("fleet.yaml", { policy: { pack: "policy", environments: "parameters" }, waves });
    write("plain.yaml", { waves });
    const foresail = new FleetCommand(stack);
    const up = await foresail.run("fleet", "up", "--yes");
    assert.equal(up.exitCode, 1, up.stdout);
    assert.match(up.stdout, /policy odd-control-planes: ClusterInit test-init: [^]*^nothing was changed$/m);
    assert.deepEqual((await stack.export()).deployment.resources ?? [], []);
    const given = await foresail.run(
      ...["fleet", "preview", "--file", "plain.yaml", "--policy-pack", "policy", "--save-plan", "plans"],
    );
    assert.equal(given.exitCode, 1, given.stdout);
    assert.match(given.stdout, /policy odd-control-planes: /);
    assert.equal(existsSync(path.join(folder, "plans/prod.json")), false);
    cpSync(
      path.join(folder, "policy/environments/development.json"),
      path.join(folder, "parameters/prod.json"),
    );
    const accepted = await foresail.run("fleet", "preview", "--save-plan", "plans");
    assert.equal(accepted.exitCode, 0, accepted.stdout);
    assert.match(
      (await foresail.run("fleet", "report", "plans", "--json")).stdout,
      /policy pinned-host-keys: /,
    );
  });

  it("accepts a stack that fulfils every rule, by plain pulumi", async () => {
    configure(3, { hostKey: HOST_KEY }, { deletionProtection: true });
    const { exitCode, stdout } = await stack.call(["preview", "--policy-pack", "policy"]);
    assert.equal(exitCode, 0, stdout);
    assert.match(stdout, /Policies:\n +✅ foresail@v/);
  });
});

/** A program of its own beside the package; its Kubernetes objects are rendered to files, so that no cluster is needed. */
const PROGRAM = `
const pulumi = require("@pulumi/pulumi");
const { KubeadmCluster } = require("foresail");
const { Provider } = require("@pulumi/kubernetes/provider");
const { Deployment } = require("@pulumi/kubernetes/apps/v1/deployment");
const { CronJob } = require("@pulumi/kubernetes/batch/v1/cronJob");
const { PodDisruptionBudget } = require("@pulumi/kubernetes/policy/v1/podDisruptionBudget");

const config = new pulumi.Config();
new KubeadmCluster("mine", {
  version: "1.36.3",
  source: { bundle: { path: "/opt/bundle" } },
  network: { plugin: { bridge: {} } },
  ssh: { privateKey: config.requireSecret("sshPrivateKey") },
  machines: config.requireObject("machines"),
  deletionProtection: true,
});
const provider = new Provider("rendered", { renderYamlToDirectory: "rendered" });
const metadata = { namespace: "shop", name: "web" };
const labels = { app: "web" };
const template = { metadata: { labels }, spec: { containers: [{ name: "web", image: "web" }] } };
new Deployment("web", { metadata, spec: { replicas: 2, selector: { matchLabels: labels }, template } }, { provider });
if (config.getBoolean("guarded")) {
  new PodDisruptionBudget("web", { metadata, spec: { minAvailable: 1, selector: { matchLabels: labels } } }, { provider });
  const jobTemplate = { spec: { template: { spec: { ...template.spec, restartPolicy: "Never" } } } };
  new CronJob("backup", { metadata: { namespace: "kube-system", name: "etcd-nightly" }, spec: { schedule: "@daily", jobTemplate } }, { provider });
}
`;

describe("a preview with foresail's policy pack of a program that brings workloads", function () {
  this.timeout(SET_UP_MILLISECONDS);
  let stack: TestStack;
  const preview = () =>
    stack.call([
      ...["preview", "--policy-pack", "node_modules/foresail/policy"],
      ...["--policy-pack-config", "parameters.json"],
    ]);

  before(async () => {
    const folder = makeInstalledProject();
    const write = (name: string, text: string) => writeFileSync(path.join(folder, name), text);
    mkdirSync(path.join(folder, "stacks", "config"), { recursive: true });
    const runtime = { name: "nodejs", options: { typescript: false } };
    const plugins = { analyzers: [{ name: "policy-foresail", path: "node_modules/foresail/policy" }] };
    write(
      "Pulumi.yaml",
      stringify({ name: "other", runtime, main: "index.js", stackConfigDir: "stacks/config", plugins }),
    );
    write("package.json", JSON.stringify({ name: "other", private: true }));
    write("index.js", PROGRAM);
    write("parameters.json", JSON.stringify({ backups: { objects: ["CronJob etcd-*"] } }));
    const toolchain = await engineToolchain(["pulumi", "plugin-command", "plugin-kubernetes"]);
    stack = await new TestStack({ folder, project: "other", stack: "prod" }, toolchain).create();
    await stack.setSecret("sshPrivateKey", generateKey().private);
  });
  after(() => stack && removeFolder(stack.place.folder));

  const machines = [1, 2, 3].map((index) => ({
    ...{ name: `cp-${index}`, address: `192.0.2.1${index}`, role: "control-plane", hostKey: HOST_KEY },
  }));

  it("refuses a workload without a budget, and a cluster without what the environment takes for a backup", async () => {
    stack.configure({ machines });
    const { exitCode, stdout } = await preview();
    assert.notEqual(exitCode, 0, stdout);
    assert.match(stdout, /disruption-budgets[^]*a rollout can stop all replicas of web at once/);
    assert.match(
      stdout,
      /backups[^]*the stack registers no object that backs up the cluster: CronJob etcd-\*/,
    );
  });

  it("accepts the same with a budget and a backup", async () => {
    stack.configure({ machines, guarded: true });
    const { exitCode, stdout } = await preview();
    assert.equal(exitCode, 0, stdout);
    assert.match(stdout, /Policies:\n +✅ foresail@v/);
  });
});
