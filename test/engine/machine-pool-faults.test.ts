import assert from "node:assert/strict";
import { CLUSTER_API, FAULT } from "../../sandbox/capi/kinds";
import { machinePoolFixture, poolConfiguration, type PoolObject, timeoutsOf } from "./machine-pool-fixture";
import { untilOrphansEnd, upKilledWhen } from "./killed-up";

/** What up prints at each transition of the figure; it is killed there, by default at one of them. */
const KILLS =
  process.env.FORESAIL_TEST_ALL === "1"
    ? [
        "made by this stack",
        "become its owner",
        "bootstrap is ready",
        "phase Provisioning",
        "infrastructure is ready",
        "phase ScalingUp",
      ]
    : ["bootstrap is ready"];

describe("a MachinePool that does not come up, through the engine", function () {
  this.timeout(120_000);
  const fixture = machinePoolFixture({ milliseconds: 700 });
  const pool = (name: string) => fixture.capi.get<PoolObject>(CLUSTER_API, "MachinePool", name);
  const up = () => fixture.stack.call(["up", "--yes", "--skip-preview"]);
  const wordsOf = async () => {
    const { exitCode, stdout, stderr } = await up();
    assert.notEqual(exitCode, 0, "it should have failed");
    return stdout + stderr;
  };
  const asked = (fault: string) => ({ annotations: { [FAULT]: fault } });

  it("names the API version that the server has, when the desired one is missing", async () => {
    fixture.stack.configure(poolConfiguration({ api: "v1beta2" }));
    const { exitCode, stdout, stderr } = await fixture.stack.call(["preview"]);
    assert.notEqual(exitCode, 0, "it should have failed");
    assert.match(
      stdout + stderr,
      /no kind MachinePool in cluster\.x-k8s\.io\/v1beta2, only in cluster\.x-k8s\.io\/v1beta1; install Cluster API 1\.11 or newer \(or write api: v1beta1\) first/,
    );
  });

  it("names phase and condition while the join data is missing, and continues when it arrives", async () => {
    const timeouts = timeoutsOf(20, { bootstrapSeconds: 2 });
    fixture.stack.configure(poolConfiguration({ replicas: 1, timeouts }, {}, asked("never-ready")));
    assert.match(
      await wordsOf(),
      /waited 2 s for MachinePool demo\/pool-a \(bootstrap\); last seen: phase Pending, waits for bootstrap data, BootstrapReady is False \(DataNotMade: asked to make no data\)/,
    );
    fixture.stack.configure(poolConfiguration({ replicas: 1, timeouts }));
    const { exitCode, stdout } = await up();
    assert.equal(exitCode, 0, stdout);
    await fixture.stack.destroy();
  });

  it("fails at once when the infrastructure has failed, with its reason and message", async () => {
    fixture.stack.configure(poolConfiguration({ replicas: 1 }, asked("failed")));
    const began = Date.now();
    assert.match(await wordsOf(), /CreateError: .*the cloud has no such flavor/);
    assert.ok(Date.now() - began < 20_000, "it should not have waited for a deadline");
    await fixture.stack.destroy();
  });

  it("follows a roll of a provider that reports nothing to its end, and the previews say that it has not ended", async () => {
    const silent = (flavor: string) => ({ ...asked("silent"), spec: { template: { flavor } } });
    const steps = async () =>
      (await fixture.stack.preview()).find(({ name }) => name === "pool-a-ready")?.inputs["steps"];
    const nodes = async () =>
      (await fixture.capi.kubernetes.listNodes()).map(({ metadata }) => metadata?.name).sort();
    fixture.stack.configure(poolConfiguration({ replicas: 2 }, silent("small")));
    await fixture.stack.up();
    fixture.capi.stopProviders();
    const timeouts = timeoutsOf(60, { infrastructureSeconds: 2 });
    fixture.stack.configure(poolConfiguration({ replicas: 2, timeouts }, silent("large")));
    const left = "2 of 2 machines to be replaced, which are of an earlier template: sandbox://demo/pool-a-0";
    const words = await wordsOf();
    assert.ok(words.includes(`last seen: phase Running, waits for ${left}`), words);
    assert.equal(((await steps()) as string[])[0], "pool-a: roll all 2 nodes, made from another template");
    fixture.stack.configure(poolConfiguration({ replicas: 2 }, silent("large")));
    await fixture.capi.startProviders();
    await fixture.stack.up();
    assert.deepEqual(await nodes(), ["pool-a-2", "pool-a-3"]);
    assert.deepEqual(await fixture.stack.preview(), []);
    await fixture.stack.destroy();
  });

  it("ends the wait when an error lasts, whose message with another id in each request is one line", async () => {
    fixture.stack.configure(poolConfiguration({ replicas: 1 }));
    await fixture.stack.up();
    const timeouts = timeoutsOf(60, { infrastructureSeconds: 12 });
    const refused = { ...asked("bad-template"), spec: { template: { flavor: "none" } } };
    fixture.stack.configure(poolConfiguration({ replicas: 1, timeouts }, refused));
    const words = await wordsOf();
    const error =
      "LaunchTemplateReady is False \\(LaunchTemplateCreateFailed: InvalidAMIID.Malformed.*request id";
    assert.match(words, new RegExp(`SandboxMachinePool pool-a: ${error}.*; 1 of 1 machines to be replaced`));
    assert.doesNotMatch(words, /waited 12 s/);
    // the engine repeats each line at its end
    const said = words.match(/last saw [^\n]*InvalidAMIID[^\n]*/g) ?? [];
    const lines = [...new Set(said)];
    assert.equal(lines.length, 1, lines.join("\n"));
    await fixture.stack.destroy();
  });

  it("is refused in the preview when others wrote a field that it sets, before anything is adopted", async () => {
    const { kubernetes } = fixture.capi;
    const { machinePool } = poolConfiguration({ replicas: 1 }) as {
      machinePool: { infrastructure: { apiVersion: string; kind: string } };
    };
    const { apiVersion, kind } = machinePool.infrastructure;
    const metadata = { name: "pool-a", namespace: "demo" };
    const object = { apiVersion, kind, metadata, spec: { template: { flavor: "tiny" } } };
    await kubernetes.apply(object, { fieldManager: "kubectl" });
    fixture.stack.configure(poolConfiguration({ replicas: 1 }));
    const { exitCode, stdout, stderr } = await fixture.stack.call(["preview"]);
    assert.notEqual(exitCode, 0, stdout);
    assert.match(
      stdout + stderr,
      /SandboxMachinePool demo\/pool-a belongs to kubectl \(.*flavor.*adopt: true/,
    );
    await kubernetes.delete({ apiVersion, kind, ...metadata });
  });

  for (const line of KILLS)
    it(`continues after a SIGKILL at "${line}", with one pool and one set of nodes`, async () => {
      fixture.stack.configure(poolConfiguration({ replicas: 2 }));
      const { killed, orphans, output } = await upKilledWhen(fixture.stack, "pulumi alone", (said) =>
        said().includes(line) ? { line } : undefined,
      );
      assert.ok(killed, `it should have been killed:\n${output}`);
      await untilOrphansEnd(orphans);
      const uid = (await pool("pool-a"))?.metadata.uid;
      await fixture.stack.clearDeadLocks();
      const { exitCode, stdout, stderr } = await up();
      assert.equal(exitCode, 0, stdout + stderr);
      if (uid !== undefined) assert.equal((await pool("pool-a"))?.metadata.uid, uid);
      assert.equal((await fixture.capi.kubernetes.listNodes()).length, 2);
      await fixture.stack.destroy();
      assert.equal(await pool("pool-a"), undefined);
    });
});
