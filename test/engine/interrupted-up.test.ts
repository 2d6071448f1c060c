import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { EXIT } from "../../cli/terminal/exit-codes";
import type { Operation } from "../../providers/kubeadm/machine/operations";
import { commandLines, descendants } from "../support/process-tree";
import { writesOf } from "../simulation/journal";
import { desiredCluster } from "./desired-cluster";
import { FleetCommand } from "./fleet-command";
import { untilOrphansEnd, upKilledWhen } from "./killed-up";
import { observedCluster } from "./observed-cluster";
import { simulatedFixture } from "./simulated-fixture";
import { byNight } from "../left-out";

const LEASE = {
  apiVersion: "coordination.k8s.io/v1",
  kind: "Lease",
  namespace: "kube-system",
  name: "foresail",
};
/** A second interrupt sooner than this counts as the same one. */
const BETWEEN_INTERRUPTS_MILLISECONDS = 1_200;

describe("an interrupt of foresail up", function () {
  this.timeout(600_000);
  const fixture = simulatedFixture({
    machines: ["cp-1", "w-1", "w-2", "w-3"],
    milliseconds: { prepare: 50 },
  });
  let foresail: FleetCommand;

  before(() => {
    foresail = new FleetCommand(fixture.stack);
  });

  const want = (...machines: string[]) =>
    fixture.stack.configure({ cluster: desiredCluster(fixture.fleet, machines) });
  const pauseRequest = async () =>
    (await fixture.kubernetes.get<{ metadata?: { annotations?: Record<string, string> } }>(LEASE))?.metadata
      ?.annotations?.["foresail/pause-requested"];

  async function until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
    for (const deadline = Date.now() + 60_000; !(await isSo()); await pause(20))
      assert.ok(Date.now() < deadline, `waited in vain for ${what}`);
  }

  /** Starts an up whose step on one machine takes a while, and waits until it does. */
  async function startSlowUp(operation: Operation, machine: string, milliseconds: number) {
    const from = fixture.fleet.files.journalLines.length;
    fixture.fleet.inject({ operation, machine, kind: "hang", milliseconds });
    const run = foresail.start("up", "--stack", "test", "--yes");
    await until(`${operation} of ${machine}`, () => {
      assert.equal(run.child.exitCode, null, run.printed());
      return fixture.fleet.files.journalLines
        .slice(from)
        .some((line) => line.operation === operation && line.machine === machine && line.event === "start");
    });
    return run;
  }

  it("reaches the engine at once while there is no cluster yet, and the next up continues", async () => {
    want("cp-1", "w-1");
    const { child, ended } = await startSlowUp("init", "cp-1", 3_000);
    child.kill("SIGINT");
    const { exitCode, stdout } = await ended;
    assert.equal(exitCode, EXIT.interrupted, stdout);
    assert.match(
      stdout,
      /no pause, since the stack has no kubeconfig yet; the engine ends what it has begun/,
    );
    assert.match(stdout, /interrupted; to continue: foresail up/);
    const again = await foresail.run("up", "--stack", "test", "--yes");
    assert.equal(again.exitCode, 0, again.stdout + again.stderr);
    assert.deepEqual(Object.keys(await observedCluster(fixture.kubernetes)), ["cp-1", "w-1"]);
  });

  it("requests a pause on the Lease, lets the current step finish, and withdraws the request", async () => {
    want("cp-1", "w-1", "w-2");
    const { child, ended, printed } = await startSlowUp("join-worker", "w-2", 4_000);
    child.kill("SIGINT");
    await until("the request for a pause", async () => (await pauseRequest()) !== undefined);
    await until("the message", () => /the current node is finished first/.test(printed()));
    assert.equal(child.exitCode, null);
    const { exitCode, stdout } = await ended;
    assert.equal(exitCode, 0, stdout);
    assert.equal(await pauseRequest(), undefined);
    assert.deepEqual(Object.keys(await observedCluster(fixture.kubernetes)), ["cp-1", "w-1", "w-2"]);
  });

  it("interrupts the engine at the second time", async () => {
    want("cp-1", "w-1", "w-2", "w-3");
    const { child, ended, printed } = await startSlowUp("join-worker", "w-3", 6_000);
    child.kill("SIGINT");
    await until("the message", () => /the current node is finished first/.test(printed()));
    await pause(BETWEEN_INTERRUPTS_MILLISECONDS);
    child.kill("SIGINT");
    const { exitCode, stdout, stderr } = await ended;
    assert.equal(exitCode, EXIT.interrupted, stdout + stderr);
    assert.match(stdout + stderr, /\^C received; cancelling[^]*interrupted; to continue: foresail up/);
    assert.equal((stdout + stderr).includes("\u001b["), false, "color where there is no terminal");
    assert.equal(await pauseRequest(), undefined);
  });

  it("needs consent: without a terminal, --plan or --yes nothing is changed", async () => {
    // the interrupted join may end meanwhile on its machine
    const writes = () => writesOf(fixture.fleet.journal).map(({ id }) => id);
    const before = writes();
    want("cp-1", "w-1", "w-2");
    const { exitCode, stdout } = await foresail.run("up", "--stack", "test");
    assert.equal(exitCode, EXIT.usage);
    assert.match(
      stdout,
      /w-3: prepared by a run that was interrupted; cordon, drain[^]*nothing was changed: without a terminal, give --plan or --yes/,
    );
    assert.deepEqual(writes(), before);
  });

  describe("that was killed", () => {
    byNight("lock.test.ts clears what a killed run left by day");
    const pending = async () => (await fixture.stack.export()).deployment.pending_operations ?? [];
    /** How many operations the state on disk has as pending; undefined while the engine replaces the file. */
    function pendingOnDisk(): number | undefined {
      const { stateFolder, place } = fixture.stack;
      const file = path.join(stateFolder, ".pulumi", "stacks", place.project, `${place.stack}.json`);
      try {
        const state = JSON.parse(readFileSync(file, "utf8")) as {
          checkpoint: { latest: { pending_operations?: unknown[] } };
        };
        return state.checkpoint.latest.pending_operations?.length ?? 0;
      } catch {
        return undefined;
      }
    }

    /**
     * Kills the engine while it prepares a further machine, and nothing else. An update beside it is printed as done before
     * it is in the state.
     */
    async function killInPrepare(machine: string): Promise<void> {
      const before = fixture.fleet.files.journalLines.length;
      fixture.fleet.inject({ operation: "prepare", machine, kind: "hang", milliseconds: 10_000 });
      const { killed, orphans } = await upKilledWhen(fixture.stack, "the whole tree", () => {
        const started = fixture.fleet.files.journalLines
          .slice(before)
          .find(({ operation, event }) => operation === "prepare" && event === "start");
        return started && pendingOnDisk() === 1 ? started : undefined;
      });
      assert.ok(killed);
      await untilOrphansEnd(orphans);
      await fixture.stack.clearDeadLocks();
      assert.equal((await pending()).length, 1);
    }

    it("leaves no pending operation of foresail's own after the next foresail up", async () => {
      want("cp-1", "w-1");
      assert.equal((await foresail.run("up", "--stack", "test", "--yes")).exitCode, 0);
      want("cp-1", "w-1", "w-2");
      await killInPrepare("w-2");
      const { exitCode, stdout, stderr } = await foresail.run("up", "--stack", "test", "--yes");
      assert.equal(exitCode, 0, stdout + stderr);
      assert.match(
        stdout,
        /cleared 1 pending operation of test from a killed run: creating test-w-2-prepare \(command:remote:Command\); the next run continues them/,
      );
      assert.doesNotMatch(stdout + stderr, /pending operations/i);
      assert.deepEqual(await pending(), []);
      assert.deepEqual(Object.keys(await observedCluster(fixture.kubernetes)), ["cp-1", "w-1", "w-2"]);
    });

    it("leaves none after foresail unlock, which says so once", async () => {
      want("cp-1", "w-1", "w-2", "w-3");
      await killInPrepare("w-3");
      // secrets are encrypted again
      const urns = async () => (await fixture.stack.export()).deployment.resources?.map(({ urn }) => urn);
      const before = await urns();
      const { exitCode, stdout } = await foresail.run("unlock", "--stack", "test");
      assert.equal(exitCode, 0, stdout);
      assert.match(
        stdout,
        /cleared 1 pending operation of test from a killed run: creating test-w-3-prepare/,
      );
      assert.deepEqual(await pending(), []);
      assert.deepEqual(await urns(), before);
      const again = await foresail.run("unlock", "--stack", "test");
      assert.doesNotMatch(again.stdout, /pending/);
    });

    for (const milliseconds of [0, 200])
      it(`leaves no idle provider behind, ${milliseconds} ms after the provider's start`, async () => {
        let begun: number | undefined;
        const { killed, orphans } = await upKilledWhen(fixture.stack, "pulumi alone", () => {
          const providers = commandLines(descendants(process.pid)).filter((line) =>
            line.includes("cmd/dynamic-provider"),
          );
          if (providers.length > 0) begun ??= Date.now();
          return begun !== undefined && Date.now() - begun >= milliseconds ? { begun } : undefined;
        });
        assert.ok(killed);
        await untilOrphansEnd(orphans.filter(({ command }) => command === "node"));
        await fixture.stack.clearDeadLocks();
      });
  });
});
