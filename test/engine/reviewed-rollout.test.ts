import assert from "node:assert/strict";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { readProcess } from "../../lib/process/identity";
import { descendants, killProcess } from "../support/process-tree";
import { FleetCommand } from "./fleet-command";
import { deedOf, NEW, OLD, versionRollout } from "./version-rollout";
import { byNight } from "../left-out";

const LEASE = {
  apiVersion: "coordination.k8s.io/v1",
  kind: "Lease",
  namespace: "kube-system",
  name: "foresail",
};
const CP = `cp-1 ${OLD} → ${NEW} (cordon, drain, kubeadm upgrade apply, uncordon)`;
const W1 = `w-1 ${OLD} → ${NEW} (cordon, drain, kubeadm upgrade node, uncordon)`;
const W2 = `w-2 ${OLD} → ${NEW} (cordon, drain, kubeadm upgrade node, uncordon)`;

describe("a rollout through the command foresail", function () {
  this.timeout(600_000);
  byNight("reviewed-up.test.ts binds a run to a plan by day");
  const rollout = versionRollout(["cp-1", "w-1", "w-2"]);
  const { ground: fixture } = rollout;
  const plan = () => path.join(fixture.folder, "reviewed.plan.json");
  let foresail: FleetCommand;

  before(() => {
    foresail = new FleetCommand(fixture.stack);
  });

  const up = (...options: string[]) => foresail.run("up", "--stack", "test", ...options);

  /** Starts `foresail up` and waits until one write is about to happen. */
  async function startUpTo(deed: string, ...options: string[]) {
    rollout.gate.expectRun((write) => deedOf(write) === deed);
    const run = foresail.start("up", "--stack", "test", ...options);
    while (!rollout.gate.held) {
      assert.equal(run.child.exitCode, null, run.printed());
      await pause(20);
    }
    return run;
  }

  async function until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
    for (const deadline = Date.now() + 60_000; !(await isSo()); await pause(20))
      assert.ok(Date.now() < deadline, `waited in vain for ${what}`);
  }

  async function review(): Promise<void> {
    const { exitCode, stdout, stderr } = await foresail.run(
      ...["preview", "--stack", "test", "--save-plan", plan()],
    );
    assert.equal(exitCode, 0, stdout + stderr);
    for (const line of [CP, W1, W2]) assert.ok(stdout.includes(line), stdout);
  }

  const pauseRequest = async () =>
    (await fixture.kubernetes.get<{ metadata?: { annotations?: Record<string, string> } }>(LEASE))?.metadata
      ?.annotations?.["foresail/pause-requested"];
  const opened = () => rollout.deeds.filter((deed) => deed.startsWith("opened")).map((deed) => deed.slice(7));

  it("finishes the current node at Ctrl-C, begins no other, exits with 4, and the next up continues", async () => {
    const { child, ended } = await startUpTo("upgraded cp-1", "--yes");
    child.kill("SIGINT");
    await until("the request for a pause", async () => (await pauseRequest()) !== undefined);
    rollout.gate.release();
    const { exitCode, stdout } = await ended;
    assert.equal(exitCode, 4, stdout);
    assert.match(stdout, /RolloutPaused[^]*before w-1: a pause was asked for/);
    assert.match(stdout, /paused before the next node; to continue: foresail up/);
    assert.deepEqual(opened(), ["cp-1"]);
    assert.ok(rollout.deeds.includes("closed cp-1"));
    assert.equal(await pauseRequest(), undefined);
    assert.deepEqual(await rollout.steps(), [W1, W2]);
    const again = await up("--yes");
    assert.equal(again.exitCode, 0, again.stdout + again.stderr);
    rollout.expectDone([CP, W1, W2]);
  });

  it("exits with 4 and its own message when stopAfter is reached, and the next up continues", async () => {
    // no node may begin that would not end in time, and the first takes longer than half of it
    await rollout.startOver({ stopAfter: "6s" });
    const { ended } = await startUpTo("upgraded cp-1", "--yes");
    await pause(3_500);
    rollout.gate.release();
    const { exitCode, stdout } = await ended;
    assert.equal(exitCode, 4, stdout);
    assert.match(stdout, /before w-1: it would not end in time \(stopAfter 6s, longest node so far \d+ s\)/);
    assert.deepEqual(opened(), ["cp-1"]);
    rollout.want(NEW);
    assert.equal((await up("--yes")).exitCode, 0);
    rollout.expectDone([CP, W1, W2]);
  });

  it("is resumed with the same plan after a kill during a node's upgrade, and does no step twice", async () => {
    await rollout.startOver();
    await review();
    const { child, ended } = await startUpTo("asked w-1", "--plan", plan());
    const tree = [readProcess(child.pid!)!, ...descendants(child.pid!)];
    tree.forEach(killProcess);
    rollout.gate.held?.answer(false);
    await ended;
    rollout.gate.release();
    const again = await up("--plan", plan());
    assert.equal(again.exitCode, 0, again.stdout + again.stderr);
    assert.match(again.stdout, /cleared the lock of test/);
    assert.match(
      again.stdout,
      /a part of what was reviewed is done; this is left of it:\n[^]*test-rollout: w-1 [^\n]*begun by an earlier run[^\n]*\n {2}test-rollout: w-2/,
    );
    rollout.expectDone([CP, W1, W2]);
    assert.match((await up("--plan", plan())).stdout, /everything that was reviewed is done/);
  });

  it("is refused when a node has changed since, and changes nothing", async () => {
    await rollout.startOver();
    await review();
    const node = { apiVersion: "v1", kind: "Node", name: "w-2" };
    const nodeInfo = { kubeletVersion: "v1.35.3" };
    await fixture.kubernetes.mergePatch(node, { status: { nodeInfo } }, { subresource: "status" });
    const [seen, asked] = [rollout.deeds.length, fixture.fleet.journal.length];
    const before = JSON.stringify((await fixture.stack.export()).deployment.resources);
    const { exitCode, stdout } = await up("--plan", plan());
    assert.equal(exitCode, 3, stdout);
    assert.match(stdout, /NodeRollout test-rollout: not reviewed: w-2 1\.35\.3 → 1\.36\.3/);
    assert.match(stdout, /Nothing was touched\./);
    assert.equal(rollout.deeds.length, seen);
    assert.equal(fixture.fleet.journal.length, asked);
    assert.equal(JSON.stringify((await fixture.stack.export()).deployment.resources), before);
  });

  it("is refused when someone's cordon uses up the pool's maxUnavailable, and continues with the same plan after an uncordon", async () => {
    await rollout.startOver();
    await review();
    const node = { apiVersion: "v1", kind: "Node", name: "w-2" };
    await fixture.kubernetes.mergePatch(node, { spec: { unschedulable: true } });
    const seen = rollout.deeds.length;
    const { exitCode, stdout } = await up("--plan", plan());
    assert.equal(exitCode, 3, stdout);
    assert.match(stdout, /NodeRollout test-rollout: not reviewed: w-2 1\.35\.4 → 1\.36\.3 .*left cordoned/);
    assert.match(stdout, /Nothing was touched\./);
    assert.equal(rollout.deeds.length, seen);
    await fixture.kubernetes.mergePatch(node, { spec: { unschedulable: null } });
    // the cordon was the test's own
    rollout.gate.writes.length = 0;
    const again = await up("--plan", plan());
    assert.equal(again.exitCode, 0, again.stdout + again.stderr);
    rollout.expectDone([CP, W1, W2]);
  });
});
