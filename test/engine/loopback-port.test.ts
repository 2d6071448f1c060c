import assert from "node:assert/strict";
import { desiredCluster } from "./desired-cluster";
import { simulatedFixture } from "./simulated-fixture";

describe("the port of a loopback endpoint that the configuration does not name", function () {
  this.timeout(600_000);
  const fixture = simulatedFixture({ machines: ["cp-1"] });
  const nodesEndpoint = async () =>
    ((await fixture.stack.outputs())["endpoints"] as { nodes: string } | undefined)?.nodes;
  const configure = (others: object = {}) =>
    fixture.stack.configure({ cluster: desiredCluster(fixture.fleet, ["cp-1"], { ...others }) });

  /** Ends a first run after the machine's preparation. */
  async function failAtInit(): Promise<void> {
    fixture.fleet.inject({ operation: "init", machine: "cp-1", kind: "fail", stderr: "disk full" });
    const { exitCode, stdout } = await fixture.stack.call(["up", "--yes", "--skip-preview"]);
    assert.notEqual(exitCode, 0, stdout);
    const types = (await fixture.stack.export()).deployment.resources?.map(({ type }) => type) ?? [];
    assert.deepEqual(
      [types.includes("command:remote:Command"), types.some((type) => type.endsWith(":ClusterInit"))],
      [true, false],
    );
  }

  /** Brings the stack up with the machine as it was prepared. */
  async function continueUp(): Promise<string | undefined> {
    const steps = await fixture.stack.preview();
    assert.deepEqual(
      steps.filter(({ type }) => type === "command:remote:Command"),
      [],
    );
    await fixture.stack.up();
    assert.deepEqual(await fixture.stack.preview(), []);
    return nodesEndpoint();
  }

  it("is the one for which a first run prepared the machine before it was interrupted", async () => {
    configure({ endpoint: { loopback: { port: 9001 } } });
    await failAtInit();
    configure();
    assert.equal(await continueUp(), "127.0.0.1:9001");
  });

  it("is 7445 when the destroyed cluster is made again", async () => {
    await fixture.stack.destroy();
    await fixture.stack.up();
    assert.equal(await nodesEndpoint(), "127.0.0.1:7445");
    assert.deepEqual(await fixture.stack.preview(), []);
    await fixture.stack.destroy();
  });

  it("is 8443 when an earlier release prepared the machine, and its cluster keeps it", async () => {
    configure({ endpoint: { loopback: { port: 8443 } } });
    await failAtInit();
    const exported = JSON.stringify(await fixture.stack.export());
    const earlier = exported.replaceAll(" # loopback-port=8443", "");
    assert.notEqual(earlier, exported);
    await fixture.stack.call(["stack", "import"], { input: earlier });
    configure();
    assert.equal(await continueUp(), "127.0.0.1:8443");
  });
});
