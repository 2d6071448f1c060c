import assert from "node:assert/strict";
import path from "node:path";
import type { Engine } from "../../sandbox/engine";
import { StackLockedError } from "../../cli/engine/stack-lock";
import { ClusterSnapshot } from "./cluster-snapshot";
import { desiredCluster } from "./desired-cluster";
import { killedUp } from "./killed-up";
import { descendants, killProcess } from "../support/process-tree";
import { simulatedFixture } from "./simulated-fixture";
import { TestStack } from "./test-stack";

describe("the lock of a stack, and what a killed run left pending", function () {
  this.timeout(600_000);
  const fixture = simulatedFixture({ machines: ["cp-1"], milliseconds: { init: 300, prepare: 100 } });
  const isInit = ({ operation, event }: { operation: string; event: string }) =>
    operation === "init" && event === "start";

  it("clears the lock of a dead engine, which `pulumi` itself refuses, and no lock of another stack", async () => {
    const empty = await ClusterSnapshot.take(fixture);
    fixture.stack.configure({ cluster: desiredCluster(fixture.fleet, ["cp-1"]) });
    const { killed } = await killedUp(fixture, "the whole tree", isInit);
    assert.ok(killed);
    const refused = await fixture.stack.call(["up", "--yes", "--skip-preview"]);
    assert.notEqual(refused.exitCode, 0);
    assert.match(refused.stderr + refused.stdout, /currently locked by 1 lock/);
    const [said, ...others] = await fixture.stack.clearDeadLocks();
    assert.match(said!, /^cleared the lock of test: process \d+ of user .* on host .*, is gone$/);
    assert.deepEqual(others, []);
    await fixture.stack.up();
    assert.deepEqual(await fixture.stack.clearDeadLocks(), []);
    await empty.restore();
  });

  it("refuses to clear the lock of a running engine, and names it", async () => {
    fixture.fleet.inject({ operation: "init", machine: "cp-1", kind: "hang", milliseconds: 3_000 });
    const { child } = fixture.stack.startUp();
    const ended = new Promise((resolve) => child.once("exit", resolve));
    try {
      while (!fixture.fleet.files.journalLines.some((line) => isInit(line) && Date.now() - line.at < 2_000))
        await new Promise((resolve) => setTimeout(resolve, 20));
      await assert.rejects(fixture.stack.clearDeadLocks(), (error: Error) => {
        assert.ok(error instanceof StackLockedError);
        assert.match(error.message, new RegExp(`process ${String(child.pid)} of user .*, which is alive`));
        return true;
      });
      assert.equal(await ended, 0);
    } finally {
      const left = descendants(process.pid).filter(({ pid, parent }) => [pid, parent].includes(child.pid!));
      left.forEach(killProcess);
    }
    await fixture.stack.destroy();
  });

  it("resumes what a killed run left pending, as `npm start` does", async () => {
    const { folder, toolchain, fleet } = fixture;
    const { Engine: CloneEngine } = (await import(path.join(folder, "bin/sandbox/engine.js"))) as {
      Engine: typeof Engine;
    };
    const said: string[] = [];
    const open = () => CloneEngine.open("pending", toolchain, (line) => said.push(line));
    const engine = await open();
    const stateFolder = path.join(folder, ".sandbox", "state");
    const stack = new TestStack({ folder, project: "foresail", stack: "pending", stateFolder }, toolchain);
    Object.assign(stack.environment, engine.environment, { PULUMI_CONFIG_PASSPHRASE: undefined });
    stack.configure({ cluster: desiredCluster(fleet, ["cp-1"]) });
    await engine.setSecret("sshPrivateKey", fleet.privateKey);
    const { killed } = await killedUp({ ...fixture, stack }, "pulumi alone", isInit);
    assert.ok(killed);

    const again = await open();
    assert.match(said.join("\n"), /cleared the lock of pending: process \d+/);
    assert.match(said.join("\n"), /was killed in the middle of: creating test-init .*; it is resumed now/);
    assert.equal((await again.up()).created, 7);
    assert.deepEqual((await stack.export()).deployment.pending_operations ?? [], []);
    assert.equal(
      fleet.journal.filter(({ operation, outcome }) => operation === "init" && outcome === "done").length,
      3,
    );
    await again.destroy();
  });
});
