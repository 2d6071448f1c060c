import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { readProcess } from "../../lib/process/identity";
import { desiredCluster } from "./desired-cluster";
import { FleetCommand } from "./fleet-command";
import { observedCluster } from "./observed-cluster";
import { writesOf } from "../simulation/journal";
import { descendants, killProcess } from "../support/process-tree";
import { simulatedFixture } from "./simulated-fixture";

describe("an up that is bound to a reviewed plan", function () {
  this.timeout(600_000);
  const fixture = simulatedFixture({
    machines: ["cp-1", "w-1", "w-2", "w-3", "w-4", "w-5"],
    milliseconds: { "join-worker": 400, prepare: 50 },
  });
  const want = (...machines: string[]) =>
    fixture.stack.configure({ cluster: desiredCluster(fixture.fleet, machines) });
  const plan = () => path.join(fixture.folder, "reviewed.plan.json");
  const json = () => path.join(fixture.folder, "reviewed.preview.json");
  let foresail: FleetCommand;

  before(() => {
    foresail = new FleetCommand(fixture.stack);
  });

  /** Previews as a pull request does, and keeps the plan. */
  async function review(): Promise<string> {
    const { exitCode, stdout, stderr } = await foresail.run(
      ...["preview", "--stack", "test", "--save-plan", plan(), "--json", json()],
    );
    assert.equal(exitCode, 0, stdout + stderr);
    return stdout;
  }

  const upByPlan = () => foresail.run("up", "--stack", "test", "--plan", plan());
  const nodes = async () => Object.keys(await observedCluster(fixture.kubernetes));
  const workers = () => fixture.fleet.journal.filter(({ operation }) => operation === "join-worker");

  it("creates a cluster as its machines were previewed", async () => {
    want("cp-1", "w-1");
    const reviewed = await review();
    assert.match(reviewed, /w-1: install kubeadm, kubelet, kubectl 1\.36\.3 from the bundle/);
    assert.match(reviewed, /w-1: join as worker of workers, wait until Ready/);
    const { exitCode, stdout, stderr } = await upByPlan();
    assert.equal(exitCode, 0, stdout + stderr);
    assert.match(stdout, /this is what was reviewed, step by step/);
    assert.deepEqual(await nodes(), ["cp-1", "w-1"]);
  });

  it("keeps plan and preview readable for their owner only, without secrets", async () => {
    want("cp-1", "w-1", "w-2");
    assert.match(await review(), /w-2: join as worker of workers, wait until Ready/);
    for (const file of [plan(), json()]) {
      assert.equal(statSync(file).mode & 0o777, 0o600, file);
      const text = readFileSync(file, "utf8");
      assert.equal(/client-key-data|BEGIN [A-Z ]*PRIVATE KEY/.test(text), false, file);
    }
  });

  it("is refused with both lists side by side when the cluster has changed since, and changes nothing", async () => {
    await fixture.kubernetes.delete({ apiVersion: "v1", kind: "Node", name: "w-1" });
    const written = writesOf(fixture.fleet.journal);
    const before = JSON.stringify((await fixture.stack.export()).deployment.resources);
    const { exitCode, stdout } = await upByPlan();
    assert.equal(exitCode, 3, stdout);
    assert.match(
      stdout,
      /NodeGroup test-workers: not reviewed: w-1: register again, since it is a member without a Node/,
    );
    assert.match(stdout, /w-2: join as worker of workers, .* \| w-2: join as worker of workers/s);
    assert.match(stdout, /Nothing was touched\.\nnext: review it again/);
    assert.deepEqual(writesOf(fixture.fleet.journal), written);
    assert.equal(JSON.stringify((await fixture.stack.export()).deployment.resources), before);
  });

  it("does what was reviewed after a second review", async () => {
    await review();
    const { exitCode, stdout, stderr } = await upByPlan();
    assert.equal(exitCode, 0, stdout + stderr);
    assert.deepEqual(await nodes(), ["cp-1", "w-1", "w-2"]);
    assert.match((await upByPlan()).stdout, /everything that was reviewed is done; nothing is left to do/);
  });

  it("plans again when a part of what was reviewed is done by others while it begins", async () => {
    const label = (node: string, group: string | null) =>
      fixture.kubernetes.mergePatch(
        { apiVersion: "v1", kind: "Node", name: node },
        { metadata: { labels: { "foresail/group": group } } },
      );
    await label("w-1", null);
    await label("w-2", null);
    assert.match(await review(), /w-1: .*set its labels.*w-2: .*set its labels/s);
    const { child, ended, printed } = foresail.start("up", "--stack", "test", "--plan", plan());
    while (!printed().includes("this is what was reviewed")) {
      assert.equal(child.exitCode, null, printed());
      await pause(20);
    }
    await label("w-1", "workers");
    const { exitCode, stdout, stderr } = await ended;
    assert.equal(exitCode, 0, stdout + stderr);
    assert.match(stdout, /the cluster changed while this ran: comparing test with what was reviewed again/);
    assert.match((await upByPlan()).stdout, /everything that was reviewed is done/);
  });

  it("is resumed with the same plan after a kill, and does no step twice", async () => {
    want("cp-1", "w-1", "w-2", "w-3", "w-4");
    await review();
    // w-4 is slow, so that the kill falls between the end of w-3 and the end of w-4
    fixture.fleet.inject({ operation: "join-worker", machine: "w-4", kind: "hang", milliseconds: 4_000 });
    const from = fixture.fleet.files.journalLines.length;
    const { child, ended, printed } = foresail.start("up", "--stack", "test", "--plan", plan());
    const isJoined = () =>
      fixture.fleet.files.journalLines
        .slice(from)
        .some(
          ({ operation, machine, event }) =>
            operation === "join-worker" && machine === "w-3" && event === "end",
        );
    while (!isJoined() || !(await nodes()).includes("w-3")) {
      assert.equal(child.exitCode, null, printed());
      await pause(20);
    }
    await pause(700);
    const tree = [readProcess(child.pid!)!, ...descendants(child.pid!)];
    tree.forEach(killProcess);
    await ended;
    const again = await upByPlan();
    assert.equal(again.exitCode, 0, again.stdout + again.stderr);
    assert.match(again.stdout, /cleared the lock of test/);
    assert.deepEqual(await nodes(), ["cp-1", "w-1", "w-2", "w-3", "w-4"]);
    assert.equal(
      workers().filter(({ machine, outcome }) => machine === "w-3" && outcome === "done").length,
      1,
    );
    assert.match(
      again.stdout,
      // the machine may end its join before or after this
      /a part of what was reviewed is done; this is left of it:\n {2}test-workers: w-4: (join as|is a member without)/,
    );
  });

  it("says in one line what a failure blocks, and keeps the failure's own message", async () => {
    want("cp-1", "w-1", "w-2", "w-3", "w-4", "w-5");
    await review();
    fixture.fleet.inject({ operation: "prepare", machine: "w-5", kind: "fail", stderr: "disk full" });
    const { exitCode, stdout, stderr } = await upByPlan();
    assert.equal(exitCode, 1, stdout + stderr);
    assert.match(stdout + stderr, /disk full/);
    assert.equal(/none were seen/.test(stdout + stderr), false, stdout + stderr);
    assert.match(stdout, /\nnot reached because of the failure, left to the next run: [^\n]*test-workers/);
    assert.match(stdout, /\n {4}1 errored\n/);
    assert.equal((await upByPlan()).exitCode, 0);
  });

  it("refuses a plan of another stack and a file that is not a plan, before it reads the cluster", async () => {
    const { exitCode, stderr } = await foresail.run("up", "--stack", "other", "--plan", plan());
    assert.notEqual(exitCode, 0);
    assert.match(stderr, /it is of the stack test, not of other/);
    const none = await foresail.run("up", "--stack", "test", "--plan", json());
    assert.match(none.stderr, /it is not a plan of foresail/);
  });
});
