import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { parse, stringify } from "yaml";
import { projectFolder } from "../../sandbox/paths";
import { generateKey } from "../../lib/ssh/generated-key";
import { cluster, HOST_KEY } from "../unit/stacks/schema/valid";
import { makeCompiledClone, removeFolder } from "./compiled-clone";
import { FleetCommand } from "./fleet-command";
import { engineToolchain, SET_UP_MILLISECONDS } from "./simulated-fixture";
import { TestStack } from "./test-stack";

/** What a preview says that has read the section of its system. */
const REACHED = {
  openstack: / openstack\.|OpenstackCluster/,
  tumblebug: / tumblebug\.|TumblebugCluster/,
  azimuth: / azimuth\.|managementKubeconfig/,
  "machine-pool": / machinePool\.|managementKubeconfig/,
  ssh: /cluster\.|KubeadmCluster|sshPrivateKey/,
};

describe("a stack over a layer", function () {
  this.timeout(SET_UP_MILLISECONDS);
  let stack: TestStack;
  const {
    name,
    version: _,
    machines,
    ...rest
  } = cluster() as { machines: object[]; name: string; version: string };

  before(async () => {
    const folder = makeCompiledClone();
    stack = new TestStack({ folder, project: "foresail", stack: "prod-eu1" }, await engineToolchain());
    await stack.create();
    await stack.setSecret("sshPrivateKey", generateKey().private);
    stack.configure({
      layer: "prod",
      cluster: { ...rest, name, machines: machines.map((machine) => ({ ...machine, hostKey: HOST_KEY })) },
    });
  });
  after(() => removeFolder(stack.place.folder));

  const layerFile = (name: string) => path.join(path.dirname(stack.stackFile), "layers", `${name}.yaml`);

  function writeLayer(config: Record<string, unknown>): void {
    mkdirSync(path.dirname(layerFile("prod")), { recursive: true });
    writeFileSync(layerFile("prod"), stringify({ config }));
  }

  const networkOf = async () =>
    JSON.stringify((await stack.preview()).find(({ type }) => type.endsWith(":ClusterInit"))?.inputs);

  it("fails in a plain preview while the layer is missing, and names the file", async () => {
    const { exitCode, stdout } = await stack.call(["preview"]);
    assert.notEqual(exitCode, 0);
    assert.match(
      stdout,
      /layer: names the layer "prod", but stacks\/config\/layers\/prod\.yaml can't be read/,
    );
  });

  it("is previewed as merged, and a changed layer is in the next preview", async () => {
    writeLayer({ "foresail:cluster": { version: "1.36.3", network: { podSubnet: "10.200.0.0/16" } } });
    assert.match((await networkOf()) ?? "", /10\.200\.0\.0\/16/);
    writeLayer({ "foresail:cluster": { version: "1.36.3", network: { podSubnet: "10.201.0.0/16" } } });
    assert.match((await networkOf()) ?? "", /10\.201\.0\.0\/16/);
  });

  it("is shown merged by foresail config show, with files and without secrets", async () => {
    const { exitCode, stdout } = await new FleetCommand(stack).run("config", "show", "--stack", "prod-eu1");
    assert.equal(exitCode, 0);
    assert.match(stdout, /^ {4}podSubnet: 10\.201\.0\.0\/16 +# layers\/prod\.yaml$/m);
    assert.match(stdout, /^ {2}name: test +# Pulumi\.prod-eu1\.yaml$/m);
    assert.match(stdout, /^foresail:sshPrivateKey: "\[secret\]" +# Pulumi\.prod-eu1\.yaml$/m);
    assert.doesNotMatch(stdout, /PRIVATE KEY/);
  });

  it("is told the command for a missing secret, with its key", async () => {
    const azimuth = {
      name: "demo",
      namespace: "az-demo",
      templateName: "a",
      cloudCredentialsSecretName: "c",
    };
    const others = { controlPlaneMachineSize: "vm.small" };
    const config = { "foresail:system": "azimuth", "foresail:azimuth": { ...azimuth, ...others } };
    writeFileSync(stack.stackFile, stringify({ config }));
    const { exitCode, stdout } = await stack.call(["preview"]);
    assert.notEqual(exitCode, 0);
    assert.match(
      stdout,
      /managementKubeconfig: is missing; set it with: pulumi config set --secret foresail:managementKubeconfig < FILE/,
    );
  });

  it("takes the system of its layer, in the example of regions for each system", async () => {
    const regions = path.join(projectFolder, "examples", "regions");
    const filled = (file: string) => readFileSync(file, "utf8").replaceAll(/\$\{shared\.[^}]*\}/g, "filled");
    for (const [system, reached] of Object.entries(REACHED)) {
      const { config } = parse(filled(path.join(regions, system, "Pulumi.prod-eu1.yaml"))) as {
        config: Record<string, unknown>;
      };
      // its stack is not here
      delete config["foresail:shared"];
      writeFileSync(stack.stackFile, stringify({ config }));
      writeFileSync(layerFile("prod"), filled(path.join(regions, system, "layers", "prod.yaml")));
      // the preview ends where it needs the system's server, or at a value that another stack has
      const { stdout } = await stack.call(["preview"]);
      assert.doesNotMatch(stdout, /the system|is not a system/, system);
      assert.match(stdout, reached, system);
    }
  });
});
