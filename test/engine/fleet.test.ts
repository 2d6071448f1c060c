import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { stringify } from "yaml";
import { EXIT } from "../../cli/exit-codes";
import { projectFolder } from "../../sandbox/paths";
import { linkDependencies, removeFolder } from "./compiled-clone";
import { FleetCommand } from "./fleet-command";
import { engineToolchain, SET_UP_MILLISECONDS } from "./simulated-fixture";
import { TestStack } from "./test-stack";

/** A program whose run writes a journal, waits while hold-<stack> exists, and fails while fail-<stack> exists. */
const PROGRAM = `
const pulumi = require("@pulumi/pulumi");
const fs = require("fs");
module.exports = async () => {
  const stack = pulumi.getStack();
  if (!pulumi.runtime.isDryRun()) {
    fs.appendFileSync("journal", stack + " begins\\n");
    for (let left = 600; left > 0 && fs.existsSync("hold-" + stack); left -= 1)
      await new Promise((resolve) => setTimeout(resolve, 100));
    if (fs.existsSync("fail-" + stack)) throw new pulumi.RunError("broken on purpose");
    fs.appendFileSync("journal", stack + " ends\\n");
  }
  new pulumi.ComponentResource("test:index:Region", stack + fs.readFileSync("version", "utf8"));
  return { stack };
};
`;

const STACKS = ["eu1", "eu2", "us1"];

describe("a fleet of stacks in waves", function () {
  this.timeout(SET_UP_MILLISECONDS);
  let folder: string;
  let fleet: FleetCommand;
  let stack: TestStack;

  before(async () => {
    folder = mkdtempSync(path.join(tmpdir(), "foresail-fleet-"));
    writeFileSync(
      path.join(folder, "Pulumi.yaml"),
      stringify({ name: "waves", runtime: "nodejs", main: "index.js" }),
    );
    writeFileSync(path.join(folder, "package.json"), '{"name": "waves"}');
    writeFileSync(path.join(folder, "index.js"), PROGRAM);
    writeFileSync(path.join(folder, "version"), "-1");
    linkDependencies(folder);
    symlinkSync(path.join(projectFolder, "bin"), path.join(folder, "bin"));
    const waves = [
      { name: "canary", stacks: ["eu1"] },
      { name: "europe", stacks: ["eu*"], gate: { command: ["test", "!", "-e", "closed"], approval: true } },
      { name: "rest", stacks: ["*"] },
    ];
    writeFileSync(path.join(folder, "fleet.yaml"), stringify({ waves }));
    const toolchain = await engineToolchain();
    for (const name of STACKS)
      stack = await new TestStack({ folder, project: "waves", stack: name }, toolchain).create();
    fleet = new FleetCommand(stack);
  });
  after(() => removeFolder(folder));

  const at = (name: string) => path.join(folder, name);
  const set = (name: string) => writeFileSync(at(name), "");
  const clear = (name: string) => rmSync(at(name), { force: true });
  const journal = () => {
    const lines = existsSync(at("journal")) ? readFileSync(at("journal"), "utf8").trim().split("\n") : [];
    clear("journal");
    return lines;
  };

  async function until(what: string, isSo: () => boolean): Promise<void> {
    for (const deadline = Date.now() + 60_000; !isSo();) {
      assert.ok(Date.now() < deadline, `${what} did not happen`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
  const begun = (name: string) =>
    until(
      `${name} begins`,
      () => existsSync(at("journal")) && readFileSync(at("journal"), "utf8").includes(name),
    );

  it("is not previewed with a wrong passphrase: each stack says why, and nothing changes", async () => {
    const { exitCode, stdout } = await new FleetCommand(stack, { PULUMI_CONFIG_PASSPHRASE: "wrong" }).run(
      ...["fleet", "up", "--yes"],
    );
    assert.equal(exitCode, EXIT.failed, stdout);
    assert.match(stdout, /the passphrase is wrong/);
    assert.match(stdout, /^rest +us1 +failed$/m);
    assert.match(stdout, /^nothing was changed$/m);
    assert.deepEqual(journal(), []);
  });

  it("is previewed as a whole, and one table shows every stack", async () => {
    const { exitCode, stdout } = await fleet.run("fleet", "preview", "--save-plan", "plans");
    assert.equal(exitCode, EXIT.done, stdout);
    assert.match(stdout, /^WAVE +STACK +PREVIEW\ncanary +eu1 +\S.*\neurope +eu2 +\S.*\nrest +us1 +\S.*$/m);
    assert.ok(STACKS.every((name) => existsSync(at(`plans/${name}.json`))));
    assert.deepEqual(journal(), []);
  });

  it("stops after a failure in the second wave, and the same command does the rest up to the gate", async () => {
    set("fail-eu2");
    const failed = await fleet.run("fleet", "up", "--plan", "plans");
    assert.equal(failed.exitCode, EXIT.failed, failed.stdout);
    assert.match(failed.stdout, /^canary +eu1 +done\neurope +eu2 +failed\nrest +us1 +not begun$/m);
    assert.match(failed.stdout, /broken on purpose/);
    assert.deepEqual(journal(), ["eu1 begins", "eu1 ends", "eu2 begins"]);
    clear("fail-eu2");
    const waiting = await fleet.run("fleet", "up", "--plan", "plans");
    assert.equal(waiting.exitCode, EXIT.paused, waiting.stdout);
    assert.match(waiting.stdout, /^continuing the run of .*: 1 of 3 stacks done$/m);
    assert.deepEqual(journal(), ["eu2 begins", "eu2 ends"]);
  });

  it("does not pass a gate whose command fails, in spite of an approval", async () => {
    set("closed");
    const { exitCode, stdout } = await fleet.run("fleet", "up", "--continue", "--approve", "europe");
    assert.equal(exitCode, EXIT.failed, stdout);
    assert.match(stdout, /^gate of europe: failed: exit code 1$/m);
    assert.deepEqual(journal(), []);
    clear("closed");
  });

  it("refuses a second run at the same time, and goes on after its own runner was killed", async () => {
    set("hold-us1");
    const first = fleet.start("fleet", "up", "--continue", "--approve", "europe");
    await begun("us1");
    const second = await fleet.run("fleet", "up", "--continue");
    assert.equal(second.exitCode, EXIT.locked, second.stdout);
    assert.match(second.stderr, /another run of this fleet is active: process \d+/);
    first.child.kill("SIGKILL");
    await first.ended;
    const third = await fleet.run("fleet", "up", "--continue");
    assert.equal(third.exitCode, EXIT.locked, third.stdout);
    assert.match(third.stderr, /process \d+ of a run that was killed still works on us1/);
    clear("hold-us1");
    await until("us1 ends", () => readFileSync(at("journal"), "utf8").includes("us1 ends"));
    const isOver = async () => (await fleet.run("fleet", "up", "--continue")).exitCode;
    let code: number = await isOver();
    for (let left = 10; left > 0 && code === EXIT.locked; left -= 1) code = await isOver();
    assert.equal(code, EXIT.done);
    const { stdout } = await fleet.run("fleet", "status");
    assert.match(stdout, /^canary +eu1 +done\neurope +eu2 +done\nrest +us1 +done$/m);
    assert.ok(journal().every((line) => line.startsWith("us1")));
  });

  it("stops at an interrupt without beginning another stack", async () => {
    writeFileSync(at("version"), "-2");
    set("hold-eu1");
    const run = fleet.start("fleet", "up", "--yes");
    await begun("eu1");
    run.child.kill("SIGINT");
    clear("hold-eu1");
    const { exitCode, stdout } = await run.ended;
    assert.equal(exitCode, EXIT.interrupted, stdout);
    assert.match(stdout, /^europe +eu2 +not begun$/m);
    assert.ok(journal().every((line) => line.startsWith("eu1")));
  });
});
