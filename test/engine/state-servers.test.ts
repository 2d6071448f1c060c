import assert from "node:assert/strict";
import { rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { stringify } from "yaml";
import { EXIT } from "../../cli/terminal/exit-codes";
import type { Operation } from "../../providers/kubeadm/machine/operations";
import { leaveOut } from "../left-out";
import { BucketServer, PostgresServer } from "../support/state-server";
import { desiredCluster } from "./desired-cluster";
import { FleetCommand } from "./fleet-command";
import { killedUp, untilOrphansEnd } from "./killed-up";
import { SET_UP_MILLISECONDS, simulatedFixture } from "./simulated-fixture";
import { TestStack } from "./test-stack";

const BY_NIGHT = process.env.FORESAIL_TEST_ALL === "1";
/** The engine tries to write its state for half a minute. */
const OUTAGE_MILLISECONDS = 5_000;

const SERVERS = { PostgreSQL: PostgresServer, "an S3 bucket": BucketServer };

for (const [name, Server] of Object.entries(SERVERS))
  describe(`stacks whose state is in ${name}`, function () {
    this.timeout(600_000);
    before(function () {
      if (!BY_NIGHT)
        leaveOut(
          this,
          "other tests keep state in a folder; FORESAIL_TEST_ALL=1 includes real servers of state",
        );
    });
    const fixture = simulatedFixture({ machines: ["cp-1", "w-1", "w-2"], milliseconds: { prepare: 50 } });
    let server: PostgresServer | BucketServer;
    let stack: TestStack;
    let foresail: FleetCommand;
    const STACK = ["--stack", "prod-eu1"];
    const UP = ["up", ...STACK, "--yes"];

    before(async function () {
      this.timeout(SET_UP_MILLISECONDS);
      server = await new Server().open();
      const { folder, toolchain, fleet } = fixture;
      rmSync(fixture.stack.stackFile);
      const open = async (stack: string) => {
        const opened = new TestStack({ folder, project: "foresail", stack }, toolchain);
        Object.assign(opened.environment, server.environment);
        return opened.create();
      };
      stack = await open("prod-eu1");
      await stack.setSecret("sshPrivateKey", fleet.privateKey);
      const all = await open("prod-all");
      all.configure({ system: "collector", collector: { stacks: ["prod-eu1"] } });
      const waves = [
        { name: "regions", stacks: ["prod-eu*"] },
        { name: "all", stacks: ["prod-all"] },
      ];
      writeFileSync(path.join(folder, "fleet.yaml"), stringify({ name: "prod", waves }));
      foresail = new FleetCommand(stack);
    });
    after(() => server?.close());

    const want = (...machines: string[]) =>
      stack.configure({ cluster: desiredCluster(fixture.fleet, machines) });
    const times = (operation: Operation, machine: string) =>
      fixture.fleet.journal.filter(
        (entry) => entry.operation === operation && entry.machine === machine && entry.outcome === "done",
      ).length;

    /** Starts an up whose step on one machine takes a while, and waits until it does. */
    async function startSlowUp(operation: Operation, machine: string, milliseconds: number) {
      const from = fixture.fleet.files.journalLines.length;
      fixture.fleet.inject({ operation, machine, kind: "hang", milliseconds });
      const run = foresail.start(...UP);
      const isStarted = () =>
        fixture.fleet.files.journalLines
          .slice(from)
          .some((line) => line.operation === operation && line.machine === machine && line.event === "start");
      for (const deadline = Date.now() + 60_000; !isStarted(); await pause(20)) {
        assert.equal(run.child.exitCode, null, run.printed());
        assert.ok(Date.now() < deadline, `waited in vain for ${operation} of ${machine}`);
      }
      return run;
    }

    it("are a fleet, whose second up has nothing to do", async () => {
      want("cp-1");
      const preview = await foresail.run("fleet", "preview", "--save-plan", "plans");
      assert.equal(preview.exitCode, EXIT.done, preview.stdout + preview.stderr);
      const up = await foresail.run("fleet", "up", "--plan", "plans");
      assert.equal(up.exitCode, EXIT.done, up.stdout + up.stderr);
      assert.match(up.stdout, /^regions +prod-eu1 +done\nall +prod-all +done$/m);
      const again = await foresail.run("fleet", "preview");
      assert.match(again.stdout, /^regions +prod-eu1 +nothing changes\nall +prod-all +nothing changes$/m);
    });

    it("are changed by one person at a time; the other one reads who, and how to unlock", async () => {
      want("cp-1", "w-1");
      const { child, ended } = await startSlowUp("join-worker", "w-1", 6_000);
      const second = await foresail.run(...UP);
      const unlock = await foresail.run("unlock", ...STACK);
      assert.equal(child.exitCode, null, "the first up ended before the second one was refused");
      assert.equal(second.exitCode, EXIT.locked, second.stdout + second.stderr);
      assert.match(
        second.stderr,
        /the stack prod-eu1 is locked: it is held by process \d+ of user .+ on host .+, since .+, which is alive/,
      );
      assert.match(second.stderr, /foresail unlock --stack prod-eu1/);
      assert.equal(unlock.exitCode, EXIT.locked, unlock.stdout);
      assert.match(unlock.stdout, /^not cleared: it is held by process \d+ .*which is alive/);
      const first = await ended;
      assert.equal(first.exitCode, EXIT.done, first.stdout + first.stderr);
      assert.equal(times("join-worker", "w-1"), 1);
    });

    it("survive an outage of the server during an up", async () => {
      want("cp-1", "w-1", "w-2");
      const { ended } = await startSlowUp("join-worker", "w-2", 2_000);
      await server.fail();
      await pause(OUTAGE_MILLISECONDS);
      await server.start();
      const { exitCode, stdout, stderr } = await ended;
      assert.equal(exitCode, EXIT.done, stdout + stderr);
      assert.deepEqual(await stack.preview(), []);
    });

    it("lose nothing when the server goes away for longer: the next up clears the lock and continues", async () => {
      want("cp-1", "w-1");
      const { ended } = await startSlowUp("reset", "w-2", 1_000);
      await server.fail();
      const failed = await ended;
      assert.equal(failed.exitCode, EXIT.failed, failed.stdout + failed.stderr);
      const down = await foresail.run(...UP);
      assert.equal(down.exitCode, EXIT.failed, down.stdout);
      assert.match(down.stderr, /with the state can't be used: .*connection refused/);
      await server.start();
      const { exitCode, stdout, stderr } = await foresail.run(...UP);
      assert.equal(exitCode, EXIT.done, stdout + stderr);
      assert.match(stdout, /^cleared the lock of prod-eu1: process \d+ .*is gone$/m);
      assert.deepEqual(await stack.preview(), []);
    });

    it("are unlocked after a kill, with what was pending", async () => {
      want("cp-1", "w-1", "w-2");
      const { killed, orphans } = await killedUp(
        { stack, fleet: fixture.fleet },
        "the whole tree",
        ({ machine, event }) => machine === "w-2" && event === "start",
      );
      assert.ok(killed);
      await untilOrphansEnd(orphans);
      const { exitCode, stdout, stderr } = await foresail.run("unlock", ...STACK);
      assert.equal(exitCode, EXIT.done, stdout + stderr);
      assert.match(stdout, /^cleared: process \d+ .*is gone$/m);
      assert.deepEqual((await stack.export()).deployment.pending_operations ?? [], []);
      const none = await foresail.run("unlock", ...STACK);
      assert.match(none.stdout, /^the stack prod-eu1 of project foresail is not locked$/m);
      await foresail.run(...UP);
      assert.deepEqual(await stack.preview(), []);
    });

    it("are destroyed as a fleet, and nothing has printed the server's password", async () => {
      const { exitCode, stdout, stderr } = await foresail.run("fleet", "destroy", "--confirm", "prod");
      assert.equal(exitCode, EXIT.done, stdout + stderr);
      assert.deepEqual((await stack.export()).deployment.resources ?? [], []);
      assert.equal(stack.printed.includes(server.secret), false);
    });
  });
