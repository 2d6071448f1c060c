import assert from "node:assert/strict";
import { EXIT } from "../../cli/exit-codes";
import { leaveOut } from "../left-out";
import { oneAfterTheOther } from "../one-after-the-other";
import { SET_UP_MILLISECONDS } from "./simulated-fixture";
import { TemporalGround } from "./temporal-ground";

const ALL_TESTS = process.env.FORESAIL_TEST_ALL === "1";

/** Ten stacks in two regions. */
const REGIONS = Object.fromEntries(
  Array.from({ length: 10 }, (_, index) => [`s${index}`, index % 2 === 0 ? "eu1" : "us1"]),
);

describe("a fleet that a Temporal server runs", function () {
  this.timeout(SET_UP_MILLISECONDS);
  oneAfterTheOther();
  const ground = new TemporalGround();
  const run = (...args: string[]) => ground.fleet.run("fleet", ...args);
  before(async function () {
    if (!ALL_TESTS) leaveOut(this, "the server takes minutes to build: FORESAIL_TEST_ALL=1");
    const gate = { command: ["test", "!", "-e", "closed"], approval: true };
    await ground.make(REGIONS, [
      { name: "canary", stacks: ["s0"] },
      { name: "half", stacks: ["s1", "s2", "s3", "s4"], gate },
      { name: "rest", stacks: ["*"] },
    ]);
    await ground.startServer();
  });
  after(() => ground.remove());

  it("begins nothing without a worker in each region", async () => {
    const { exitCode, stderr } = await run("up", "--yes");
    assert.equal(exitCode, EXIT.failed, stderr);
    assert.match(stderr, /there is no worker in eu1, us1; nothing was changed/);
    assert.deepEqual(ground.journal(), []);
  });

  it("runs its waves by workers, up to a gate that fails", async () => {
    await ground.startWorker("eu1");
    await ground.startWorker("us1");
    ground.set("closed");
    const { exitCode, stdout, stderr } = await run("up", "--yes");
    assert.equal(exitCode, EXIT.failed, stdout + stderr);
    assert.match(stdout, /^gate of half: failed: exit code 1$/m);
    assert.match(stdout, /^half +s4 +done\nrest +s5 +not begun$/m);
    assert.equal(ground.journal()[1], "s0 ends");
    ground.clear("closed");
  });
});
