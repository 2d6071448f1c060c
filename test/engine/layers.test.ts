import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { stringify } from "yaml";
import { generateKey } from "../../lib/ssh/generated-key";
import { cluster, HOST_KEY } from "../unit/stacks/schema/valid";
import { makeCompiledClone, removeFolder } from "./compiled-clone";
import { FleetCommand } from "./fleet-command";
import { engineToolchain, SET_UP_MILLISECONDS } from "./simulated-fixture";
import { TestStack } from "./test-stack";

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

  function writeLayer(config: Record<string, unknown>): void {
    const folder = path.join(path.dirname(stack.stackFile), "layers");
    mkdirSync(folder, { recursive: true });
    writeFileSync(path.join(folder, "prod.yaml"), stringify({ config }));
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
});
