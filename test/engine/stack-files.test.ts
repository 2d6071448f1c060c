import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { parse, stringify } from "yaml";
import { EXIT } from "../../cli/terminal/exit-codes";
import { projectFolder } from "../../sandbox/paths";
import { SYSTEMS } from "../../stacks/schema/keys";
import { removeFolder } from "./compiled-clone";
import { desiredCluster } from "./desired-cluster";
import { FleetCommand } from "./fleet-command";
import { installPackage, makeInstalledProject } from "./installed-package";
import { observedCluster } from "./observed-cluster";
import { simulatedFixture } from "./simulated-fixture";
import { TestStack } from "./test-stack";

describe("stack files in a folder that has foresail as a package", function () {
  this.timeout(600_000);
  const fixture = simulatedFixture({ machines: ["cp-1", "w-1"] });
  let folder: string;
  let stack: TestStack;

  const write = (name: string, text: string) => {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    writeFileSync(path.join(folder, name), text);
  };
  const foresail = (...args: string[]) => new FleetCommand(stack).run(...args);
  const changes = async () => (await stack.preview()).map(({ name, inputs }) => [name, inputs["steps"]]);
  const project = () => parse(readFileSync(path.join(folder, "Pulumi.yaml"), "utf8")) as object;

  before(async () => {
    folder = makeInstalledProject();
    const machines = ["--control-plane", "192.0.2.11", "--worker", "192.0.2.21", "--user", "root"];
    stack = new TestStack({ folder, project: "foresail", stack: "prod" }, fixture.toolchain);
    const made = await foresail(
      "init",
      "--stack",
      "prod",
      "--kubernetes",
      "1.36.3",
      ...machines,
      "--no-check",
    );
    assert.equal(made.exitCode, EXIT.done, made.stdout + made.stderr);
    write(
      "stacks/config/layers/common.yaml",
      stringify({ config: { "foresail:cluster": { version: "1.36.3" } } }),
    );
    await stack.create();
    await stack.setSecret("sshPrivateKey", fixture.fleet.privateKey);
    const { version: _, ...cluster } = desiredCluster(fixture.fleet, ["cp-1", "w-1"]);
    stack.configure({ layer: "common", cluster });
  });
  after(() => folder && removeFolder(folder));

  it("are made by foresail init, without a program beside them", () => {
    assert.deepEqual(readdirSync(folder).sort(), [
      ".gitignore",
      "Pulumi.yaml",
      "backend",
      "node_modules",
      "package.json",
      "stacks",
    ]);
  });

  it("are previewed over their layer with the package's policies", async () => {
    const pack = ["preview", "--policy-pack", "node_modules/foresail/policy"];
    const refused = await foresail(...pack);
    assert.equal(refused.exitCode, EXIT.failed);
    assert.match(refused.stdout, /refused: policy odd-control-planes: ClusterInit test-init/);
    const levels = "node_modules/foresail/policy/environments/development.json";
    const accepted = await foresail(...pack, "--policy-pack-config", levels);
    assert.equal(accepted.exitCode, EXIT.done, accepted.stdout + accepted.stderr);
  });

  it("bring up a cluster, and change nothing the second time", async () => {
    await stack.up();
    assert.deepEqual(await observedCluster(fixture.kubernetes), {
      "cp-1": { group: "control-plane", ready: true },
      "w-1": { group: "workers", ready: true },
    });
    assert.deepEqual(Object.keys(await stack.up()), ["unchanged"]);
  });

  it("are read for each system", async () => {
    for (const system of SYSTEMS) {
      const other = new TestStack({ ...stack.place, stack: system }, fixture.toolchain);
      await other.create();
      other.configure({ system });
      const { exitCode, stdout } = await other.call(["preview"]);
      assert.notEqual(exitCode, 0);
      assert.match(stdout, new RegExp(`Pulumi.${system}.yaml has [1-9]\\d* validation issue`), stdout);
      rmSync(other.stackFile);
    }
  });

  it("are a fleet with fleet.yaml", async () => {
    write("fleet.yaml", stringify({ waves: [{ name: "all", stacks: ["prod"] }] }));
    const answer = await foresail("fleet", "preview");
    assert.equal(answer.exitCode, EXIT.done, answer.stdout + answer.stderr);
    assert.match(answer.stdout, /prod/);
  });

  it("preview nothing with the next release", async () => {
    installPackage(folder, "0.2.0");
    assert.deepEqual(await changes(), []);
  });

  it("preview the same when Pulumi.yaml names the package as its main", async () => {
    const manifest = readFileSync(path.join(folder, "package.json"), "utf8");
    const { main: _, ...content } = JSON.parse(manifest) as { main: string };
    const before = project();
    write("package.json", JSON.stringify(content));
    write("Pulumi.yaml", stringify({ ...before, main: "node_modules/foresail" }));
    const found = await changes().finally(() => {
      write("Pulumi.yaml", stringify(before));
      write("package.json", manifest);
    });
    assert.deepEqual(found, []);
  });

  it("are what pulumi new makes of the template", async () => {
    const made = path.join(folder, "made");
    const template = path.join(projectFolder, "template");
    const options = ["--name", "foresail", "--description", "Kubernetes clusters, one stack a cluster"];
    const args = ["new", template, ...options, "--dir", made, "--generate-only", "--yes"];
    const answer = await stack.call(args, { ofStack: false });
    assert.equal(answer.exitCode, 0, answer.stdout + answer.stderr);
    const madeOf = (name: string) => readFileSync(path.join(made, name), "utf8");
    // the engine notes where the template was
    const { config: _, ...named } = parse(madeOf("Pulumi.yaml")) as { config: object };
    assert.deepEqual(named, project());
    const own = JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8")) as object;
    assert.deepEqual(JSON.parse(madeOf("package.json")), { ...own, name: "foresail" });
  });

  it("destroy it", async () => {
    await stack.destroy();
    assert.equal(fixture.fleet.state("cp-1").marker, undefined);
  });
});
