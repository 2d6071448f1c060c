import assert from "node:assert/strict";
import { userInfo, hostname } from "node:os";
import { mkdirSync } from "node:fs";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { TestStack } from "./test-stack";
import { deedOf, NEW, OLD, versionRollout } from "./version-rollout";
import { byNight } from "../left-out";

const MACHINES = ["cp-1", "w-1"];
const HELD_AT = "ready=false cp-1";

describe("two runs from two state backends on one cluster", function () {
  this.timeout(600_000);
  byNight("lease.test.ts has two holders by day");
  const rollout = versionRollout(MACHINES);
  const { ground: fixture } = rollout;
  /** The same stack, whose state was copied to another backend. */
  let twin: TestStack;
  let listed: string[] | undefined;

  before(async function () {
    this.timeout(600_000);
    const { folder, toolchain, fleet } = fixture;
    const stateFolder = path.join(folder, "backend-of-the-twin");
    mkdirSync(stateFolder);
    const exported = (await fixture.stack.call(["stack", "export", "--show-secrets"])).stdout;
    twin = await new TestStack(
      { folder, project: "foresail", stack: "test", stateFolder },
      toolchain,
    ).create();
    assert.equal((await twin.call(["stack", "import"], { input: exported })).exitCode, 0);
    // it takes over the existing cluster: nothing is created twice
    rollout.want(OLD, {}, {}, twin);
    const from = fleet.journal.length;
    await twin.up();
    const again = fleet.journal.slice(from).filter(({ outcome }) => outcome === "done");
    const made = again.filter(({ operation }) => /^(prepare|init|join-.*|reset)$/.test(operation));
    assert.deepEqual(made, []);
    assert.deepEqual(rollout.deeds, []);
    rollout.want(NEW);
    listed = await rollout.steps();
  });

  /** Starts the first run and waits until it is in the middle of its first node. */
  async function startFirst() {
    rollout.gate.expectRun((write) => deedOf(write) === HELD_AT);
    const { child, output } = fixture.stack.startUp();
    const ended = new Promise<number | null>((resolve) => child.once("exit", resolve));
    while (!rollout.gate.held) {
      assert.equal(child.exitCode, null, output());
      await pause(20);
    }
    return { child, ended, output };
  }

  const whoHolds = `${userInfo().username}@${hostname()} (stack foresail/test, process `;

  it("refuses the second by the name of the first, which completes as if it were alone", async () => {
    const first = await startFirst();
    const timeouts = {
      sshSeconds: 10,
      prepareSeconds: 60,
      initSeconds: 60,
      joinSeconds: 60,
      readySeconds: 3,
    };
    rollout.want(NEW, {}, { timeouts }, twin);
    const { exitCode, stdout, stderr } = await twin.call(["up", "--yes", "--skip-preview"]);
    const words = stdout + stderr;
    assert.notEqual(exitCode, 0, words);
    assert.ok(words.includes("LeaseHeld"), words);
    assert.ok(words.includes(`${whoHolds}`), words);
    assert.match(words, /is changing this cluster\. Run the same again when that has ended/);
    assert.equal(rollout.deeds.includes(HELD_AT), false);
    rollout.gate.release();
    assert.equal(await first.ended, 0, first.output());
    rollout.expectDone(listed);
  });

  it("leaves the second nothing to do on any node, and records that in its state", async () => {
    const seen = rollout.deeds.length;
    rollout.want(NEW, {}, {}, twin);
    await twin.up();
    assert.deepEqual(Object.keys(await twin.up()), ["unchanged"]);
    assert.equal((await twin.outputs()).version, NEW);
    assert.equal(rollout.deeds.length, seen);
  });

  it("lets the second wait for the first until its deadline, and then does nothing twice", async () => {
    await rollout.startOver();
    rollout.want(OLD, {}, {}, twin);
    await twin.up();
    rollout.want(NEW, {}, {}, twin);
    const first = await startFirst();
    const second = twin.startUp();
    const secondEnded = new Promise<number | null>((resolve) => second.child.once("exit", resolve));
    while (!second.output().includes(whoHolds)) {
      assert.equal(second.child.exitCode, null, second.output());
      await pause(50);
    }
    rollout.gate.release();
    assert.deepEqual(await Promise.all([first.ended, secondEnded]), [0, 0], second.output());
    rollout.expectDone(listed);
    for (const stack of [fixture.stack, twin])
      assert.deepEqual(
        [(await stack.outputs()).version, Object.keys(await stack.up())],
        [NEW, ["unchanged"]],
      );
  });
});
