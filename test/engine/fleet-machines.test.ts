import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { stringify } from "yaml";
import { EXIT } from "../../cli/terminal/exit-codes";
import type { Toolchain } from "../../sandbox/toolchain";
import { leaveOut } from "../left-out";
import { oneAfterTheOther } from "../one-after-the-other";
import { BareApiServer } from "../simulation/bare-api-server";
import { SimulatedFleet } from "../simulation/simulated-fleet";
import { commandLines, descendants, killProcess } from "../support/process-tree";
import { until } from "../support/temporal-server";
import { makeCompiledClone, removeFolder } from "./compiled-clone";
import { desiredCluster } from "./desired-cluster";
import { FleetCommand } from "./fleet-command";
import { apiPrograms, engineToolchain, SET_UP_MILLISECONDS } from "./simulated-fixture";
import { TestStack } from "./test-stack";

const ALL_TESTS = process.env.FORESAIL_TEST_ALL === "1";
const STACKS = Array.from({ length: 10 }, (_, index) => `prod-${index}`);
const MACHINE = "cp-1";

describe("a fleet of ten clusters in three waves, on simulated machines", function () {
  this.timeout(SET_UP_MILLISECONDS);
  oneAfterTheOther();
  const apis: BareApiServer[] = [];
  const machines: Record<string, SimulatedFleet> = {};
  const stacks: Record<string, TestStack> = {};
  let folder: string;
  let fleet: FleetCommand;

  before(async function () {
    if (!ALL_TESTS) leaveOut(this, "ten API servers: FORESAIL_TEST_ALL=1");
    // each API server listens for the end of this process
    process.setMaxListeners(STACKS.length + 10);
    const toolchain = await engineToolchain();
    folder = makeCompiledClone();
    const waves = [
      { name: "canary", stacks: ["prod-0"], gate: { nodesReady: true, approval: true } },
      { name: "half", stacks: ["prod-1", "prod-2", "prod-3", "prod-4"] },
      { name: "rest", stacks: ["*"] },
    ];
    writeFileSync(path.join(folder, "fleet.yaml"), stringify({ maxParallel: 2, waves }));
    for (const name of STACKS) await makeStack(name, toolchain);
    fleet = new FleetCommand(stacks["prod-0"]!);
  });
  after(async () => {
    for (const each of Object.values(machines)) await each.stop();
    for (const api of apis) await api.stop();
    if (folder) removeFolder(folder);
  });

  /** Makes a stack of one machine, which has an API server of its own. */
  async function makeStack(name: string, toolchain: Toolchain): Promise<void> {
    const { etcd, kubeApiserver } = apiPrograms(toolchain);
    const api = await new BareApiServer({ programs: { etcd, kubeApiserver } }).start();
    apis.push(api);
    machines[name] = await SimulatedFleet.start({ api, machines: [MACHINE] });
    const stack = new TestStack({ folder, project: "foresail", stack: name }, toolchain);
    stacks[name] = await stack.create();
    await stack.setSecret("sshPrivateKey", machines[name].privateKey);
    want(name);
  }

  const want = (name: string, others: object = {}) =>
    stacks[name]!.configure({ cluster: desiredCluster(machines[name]!, [MACHINE], { name, ...others }) });
  const up = (...args: string[]) => fleet.run("fleet", "up", ...args);
  const log = (name: string) =>
    readFileSync(path.join(folder, ".foresail/fleet/logs", `${name}.log`), "utf8");
  const timesInitialized = (name: string) =>
    machines[name]!.journal.filter(({ operation, outcome }) => operation === "init" && outcome === "done")
      .length;
  const initialized = () => STACKS.filter((name) => timesInitialized(name) > 0);
  /** The states of all stacks, in the table at the end of a run. */
  const states = (stdout: string) =>
    [...stdout.matchAll(/^(?:canary|half|rest) +prod-\d +(.+)$/gm)].map(([, state]) => state);

  it("does nothing with a wrong passphrase, although the plans are right", async () => {
    const preview = await fleet.run("fleet", "preview", "--save-plan", "plans");
    assert.equal(preview.exitCode, EXIT.done, preview.stdout + preview.stderr);
    const wrong = new FleetCommand(stacks["prod-0"]!, { PULUMI_CONFIG_PASSPHRASE: "wrong" });
    const { exitCode, stdout } = await wrong.run("fleet", "up", "--plan", "plans");
    assert.equal(exitCode, EXIT.failed, stdout);
    assert.match(stdout, /the passphrase is wrong/);
    assert.deepEqual(states(stdout), ["failed", ...Array<string>(9).fill("not begun")]);
    for (const name of STACKS) assert.deepEqual(machines[name]!.journal, []);
  });

  it("waits when a person answers no at the gate of the canary", async () => {
    const { exitCode, stdout } = await fleet.runAnswered("n", "fleet", "up", "--plan", "plans");
    assert.equal(exitCode, EXIT.paused, stdout);
    assert.match(stdout, /gate of canary: go on with the next wave\? \[y\/N\]/);
    assert.match(stdout, /gate of canary: not approved; to go on: .* --approve canary/);
    assert.deepEqual(initialized(), ["prod-0"]);
  });

  it("goes on after a yes, and begins nothing more after a failure in the second wave", async () => {
    machines["prod-2"]!.inject({ operation: "prepare", machine: MACHINE, kind: "fail", stderr: "disk full" });
    const { exitCode, stdout } = await fleet.runAnswered("y", "fleet", "up", "--continue");
    assert.equal(exitCode, EXIT.failed, stdout);
    assert.match(stdout, /gate of canary: passed/);
    assert.match(stdout, /disk full/);
    const found = states(stdout.replaceAll("\r", ""));
    assert.deepEqual(found.slice(0, 3), ["done", "done", "failed"], stdout);
    assert.deepEqual(found.slice(5), Array<string>(5).fill("not begun"));
  });

  it("continues after the engine of a stack was killed in the second wave, with nothing done twice", async () => {
    machines["prod-4"]!.inject({
      operation: "init",
      machine: MACHINE,
      kind: "hang",
      milliseconds: 3_000,
    });
    const { child, ended } = fleet.start("fleet", "up", "--continue");
    await until("prod-4 is initialized", () =>
      machines["prod-4"]!.files.journalLines.some(
        ({ operation, event }) => operation === "init" && event === "start",
      ),
    );
    const engines = descendants(child.pid!).filter(
      (process) =>
        process.command === "pulumi" && (commandLines([process])[0] ?? "").includes("--stack prod-4"),
    );
    assert.equal(engines.length, 1, commandLines(descendants(child.pid!)).join("\n"));
    engines.forEach(killProcess);
    const { exitCode, stdout } = await ended;
    assert.equal(exitCode, EXIT.failed, stdout);
    assert.deepEqual(states(stdout).slice(4), ["failed", ...Array<string>(5).fill("not begun")], stdout);
  });

  it("stops only the wave of a region that is no longer as it was reviewed, and finishes when it is again", async () => {
    want("prod-6", { network: { plugin: { bridge: {} }, podSubnet: "10.200.0.0/16" } });
    const stopped = await up("--continue");
    assert.equal(stopped.exitCode, EXIT.failed, stopped.stdout);
    assert.match(log("prod-4"), /^cleared the lock of prod-4: process \d+ .* is gone$/m);
    assert.match(
      log("prod-6"),
      /refused: what would run now is not what was reviewed\. Nothing was touched\./,
    );
    assert.match(stopped.stdout, /^prod-6: failed after \d+ s \(exit code 3\)$/m);
    assert.deepEqual(states(stopped.stdout).slice(0, 6), Array<string>(6).fill("done"));
    assert.deepEqual(machines["prod-6"]!.journal, []);
    want("prod-6");
    const { exitCode, stdout } = await up("--continue");
    assert.equal(exitCode, EXIT.done, stdout);
    assert.deepEqual(states(stdout), Array<string>(10).fill("done"));
    for (const name of STACKS) assert.equal(timesInitialized(name), 1, name);
  });
});
