import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { EXIT } from "../../cli/terminal/exit-codes";
import { leaveOut } from "../left-out";
import { oneAfterTheOther } from "../one-after-the-other";
import { until } from "../support/temporal-server";
import type { FleetWorker } from "./fleet-worker";
import { SET_UP_MILLISECONDS } from "./simulated-fixture";
import { SECRETS, TemporalGround } from "./temporal-ground";

const ALL_TESTS = process.env.FORESAIL_TEST_ALL === "1";

/** Ten stacks in two regions. */
const REGIONS = Object.fromEntries(
  Array.from({ length: 10 }, (_, index) => [`s${index}`, index % 2 === 0 ? "eu1" : "us1"]),
);
const STACKS = Object.keys(REGIONS);

describe("a fleet that a Temporal server runs", function () {
  this.timeout(SET_UP_MILLISECONDS);
  oneAfterTheOther();
  const ground = new TemporalGround();
  const run = (...args: string[]) => ground.fleet.run("fleet", ...args);
  const begun = (stack: string) =>
    until(`${stack} begins`, () => ground.journal().includes(`${stack} begins`));
  const timesEnded = (stack: string) => ground.journal().filter((line) => line === `${stack} ends`).length;
  let eu1: FleetWorker;
  let us1: FleetWorker;
  let command: ReturnType<TemporalGround["fleet"]["start"]>;

  before(async function () {
    if (!ALL_TESTS) leaveOut(this, "the server takes minutes to build: FORESAIL_TEST_ALL=1");
    const gate = { command: ["test", "!", "-e", "closed"], approval: true };
    await ground.make(REGIONS, [
      { name: "canary", stacks: ["s0"] },
      { name: "half", stacks: ["s1", "s2", "s3", "s4"], gate },
      { name: "rest", stacks: ["*"] },
    ]);
    await ground.server.start();
  });
  after(async () => {
    // none has begun when the suite is left out
    (command as typeof command | undefined)?.child.kill("SIGKILL");
    await ground.remove();
  });

  it("begins nothing without a worker in each region", async () => {
    const { exitCode, stderr } = await run("up", "--yes");
    assert.equal(exitCode, EXIT.failed, stderr);
    assert.match(stderr, /there is no worker in eu1, us1; nothing was changed/);
    assert.deepEqual(ground.journal(), []);
  });

  it("runs its waves by workers, up to a gate that fails", async () => {
    eu1 = await ground.startWorker("eu1");
    us1 = await ground.startWorker("us1");
    ground.set("closed");
    const { exitCode, stdout, stderr } = await run("up", "--yes");
    assert.equal(exitCode, EXIT.failed, stdout + stderr);
    assert.match(stdout, /^gate of half: failed: exit code 1$/m);
    assert.match(stdout, /^half +s4 +done\nrest +s5 +not begun$/m);
    assert.equal(ground.journal()[1], "s0 ends");
    ground.clear("closed");
  });

  it("is continued up to the approval of a gate, and waits without the command", async () => {
    const { exitCode, stdout, stderr } = await run("up", "--continue");
    assert.equal(exitCode, EXIT.paused, stdout + stderr);
    assert.match(stdout, /^continuing the run of .*: 5 of 10 stacks done$/m);
    assert.match(stdout, /^the run waits in Temporal; to go on: .* --approve half$/m);
    const status = await run("status");
    assert.match(status.stdout, /^the gate of half waits for approval: foresail fleet approve --wave half$/m);
    const second = await run("up", "--yes");
    assert.equal(second.exitCode, EXIT.locked, second.stderr);
    assert.ok(STACKS.slice(5).every((stack) => timesEnded(stack) === 0));
  });

  it("loses nothing when a worker, the server and the command are killed, and goes on", async () => {
    ["s6", "s7"].forEach((stack) => ground.set(`hold-${stack}`));
    assert.equal((await run("approve", "--wave", "half")).exitCode, EXIT.done);
    command = ground.fleet.start("fleet", "up", "--continue");
    await begun("s6");
    await begun("s7");
    await eu1.kill();
    await ground.server.kill();
    command.child.kill("SIGKILL");
    await command.ended;
    await ground.server.start();
    eu1 = await ground.startWorker("eu1");
    ["s6", "s7"].forEach((stack) => ground.clear(`hold-${stack}`));
    const { exitCode, stdout, stderr } = await run("up", "--continue");
    assert.equal(exitCode, EXIT.done, stdout + stderr);
    assert.match(stdout, /^joining the run of /m);
    for (const stack of STACKS) assert.equal(timesEnded(stack), 1, `${stack}: ${ground.journal().join()}`);
  });

  it("begins nothing while it is paused, and lets its stacks pause at an interrupt", async () => {
    writeFileSync(ground.at("version"), "-2");
    ground.set("hold-s0");
    command = ground.fleet.start("fleet", "up", "--yes");
    await until("s0 begins again", () => ground.journal().at(-1) === "s0 begins");
    assert.equal((await run("pause")).exitCode, EXIT.done);
    ground.clear("hold-s0");
    await until("s0 is done", () => timesEnded("s0") === 2);
    await until("the run is paused", async () =>
      /^canary +s0 +done$[^]*^it is paused; to go on: foresail fleet resume$/m.test(
        (await run("status")).stdout,
      ),
    );
    assert.deepEqual([timesEnded("s1"), ground.journal().at(-1)], [1, "s0 ends"]);
    ground.set("hold-s1");
    assert.equal((await run("resume")).exitCode, EXIT.done);
    await until(
      "s1 begins again",
      () => ground.journal().filter((line) => line === "s1 begins").length === 2,
    );
    command.child.kill("SIGINT");
    await until("the interrupt arrives", () =>
      command.printed().includes("interrupted: no further stack begins"),
    );
    ground.clear("hold-s1");
    const { exitCode, stdout } = await command.ended;
    assert.equal(exitCode, EXIT.interrupted, stdout);
    assert.match(stdout, /^rest +s5 +not begun$/m);
  });

  it("takes a stack back from a worker that is asked to stop, and gives it to the next one", async () => {
    writeFileSync(ground.at("version"), "-3");
    ground.set("hold-s0");
    ["s6", "s7"].forEach((stack) => ground.set(`hold-${stack}`));
    command = ground.fleet.start("fleet", "up", "--yes", "--approve", "half");
    await until("s0 begins again", () => ground.journal().at(-1) === "s0 begins");
    const stopped = eu1.stop();
    await until("the worker is asked to stop", () => eu1.printed().includes("stopping: "));
    ground.clear("hold-s0");
    assert.equal(await stopped, EXIT.done, eu1.printed());
    assert.match((await run("status")).stdout, /, which is open\nWAVE .*\ncanary +s0 +running$/m);
    eu1 = await ground.startWorker("eu1");
    await until("the next wave begins", () => command.printed().includes("gate of half: passed"));
    assert.match(command.printed(), /^s0: done in /m);
  });

  it("goes on when only its server, and then only a worker was killed, and does each stack once", async () => {
    const before = Object.fromEntries(STACKS.map((stack) => [stack, timesEnded(stack)]));
    const begins = (stack: string) => ground.journal().filter((line) => line === `${stack} begins`).length;
    const isBegun = (stack: string) => until(`${stack} begins again`, () => begins(stack) === 2);
    await isBegun("s6");
    await isBegun("s7");
    await ground.server.kill();
    await ground.server.start();
    await us1.kill();
    us1 = await ground.startWorker("us1");
    ["s6", "s7"].forEach((stack) => ground.clear(`hold-${stack}`));
    const { exitCode, stdout, stderr } = await command.ended;
    assert.equal(exitCode, EXIT.done, stdout + stderr);
    for (const stack of ["s6", "s7"]) {
      assert.deepEqual([begins(stack), timesEnded(stack)], [2, before[stack]! + 1]);
      assert.match(stdout, new RegExp(`^${stack}: done in `, "m"));
    }
  });

  it("begins no stack outside of its own window, while the others of its wave run", async () => {
    writeFileSync(ground.at("version"), "-4");
    const before = { s0: timesEnded("s0"), s1: timesEnded("s1") };
    const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString().slice(11, 16);
    const window = { from: inHours(2), to: inHours(3), timeZone: "UTC" };
    ground.writeFleet({
      waves: [{ name: "all", stacks: ["s0", "s1"] }],
      windows: [{ labels: { region: "us1" }, ...window }],
    });
    const { exitCode, stdout, stderr } = await run("up", "--yes");
    assert.equal(exitCode, EXIT.paused, stdout + stderr);
    assert.match(stdout, /^s1: its window, .*UTC, is closed until \S+Z; to go on then: /m);
    assert.deepEqual([timesEnded("s0"), timesEnded("s1")], [before.s0 + 1, before.s1]);
    ground.writeFleet({ waves: [{ name: "all", stacks: ["s0", "s1"] }] });
  });

  it("has no secret in its history, in which the plans are", async () => {
    const texts = await ground.server.histories();
    assert.ok(texts.length >= 12, `${texts.length} workflows`);
    const plans = texts.filter((text) => text.includes('"formatVersion"'));
    assert.ok(plans.length >= 10, `${plans.length} histories with a plan`);
    for (const secret of SECRETS) assert.ok(!texts.some((text) => text.includes(secret)), secret);
  });
});
