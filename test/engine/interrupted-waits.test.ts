import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Lease } from "../../lib/kubernetes";
import { readHolder } from "../../lib/kubernetes/lease-holder";
import { CLUSTER_LEASE } from "../../lib/kubernetes/own-objects";
import { descendants, untilEnded } from "../support/process-tree";
import { desiredCluster } from "./desired-cluster";
import { simulatedFixture } from "./simulated-fixture";

/** Within this time an interrupted run has ended. */
const END_MILLISECONDS = 5_000;
const BEGIN_MILLISECONDS = 60_000;

/** The waits of other systems are in `test/host/interrupted-waits.test.ts`. */
describe("an interrupt of pulumi up while a remote step runs", function () {
  this.timeout(300_000);
  const fixture = simulatedFixture({ machines: ["cp-1", "w-1", "w-2"] });
  const timeouts = { sshSeconds: 120, prepareSeconds: 120, initSeconds: 120, joinSeconds: 120 };
  const steps = [
    { operation: "init", machine: "cp-1", machines: ["cp-1", "w-1"] },
    { operation: "join-worker", machine: "w-2", machines: ["cp-1", "w-1", "w-2"] },
  ] as const;

  async function assertNothingLeft(): Promise<void> {
    const locks = path.join(fixture.stack.stateFolder, ".pulumi", "locks");
    const left = existsSync(locks) ? readdirSync(locks, { recursive: true, encoding: "utf8" }) : [];
    assert.deepEqual(
      left.filter((file) => file.endsWith(".json")),
      [],
    );
    const pending = (await fixture.stack.export()).deployment.pending_operations ?? [];
    assert.deepEqual(pending, []);
    assert.equal(readHolder(await fixture.kubernetes.get<Lease>(CLUSTER_LEASE)), undefined);
  }

  for (const { operation, machine, machines } of steps)
    it(`ends the wait for ${operation}, says so, and the next up continues`, async () => {
      fixture.stack.configure({ cluster: desiredCluster(fixture.fleet, [...machines], { timeouts }) });
      const from = fixture.fleet.files.journalLines.length;
      fixture.fleet.inject({ operation, machine, kind: "hang", milliseconds: 9_000 });
      const hasBegun = () =>
        fixture.fleet.files.journalLines
          .slice(from)
          .some((line) => line.operation === operation && line.machine === machine && line.event === "start");
      const { child, output } = fixture.stack.startUp();
      const ended = once(child, "exit") as Promise<[number | null]>;
      for (const deadline = Date.now() + BEGIN_MILLISECONDS; !hasBegun(); await pause(20)) {
        assert.equal(child.exitCode, null, output());
        assert.ok(Date.now() < deadline, output());
      }
      const processes = descendants(child.pid!);
      const at = Date.now();
      // a terminal sends it to the whole group
      process.kill(-child.pid!, "SIGINT");
      const [exitCode] = await ended;
      const took = Date.now() - at;
      await untilEnded(processes, 2);
      assert.notEqual(exitCode, 0);
      const words = `while \`${operation} ${machine}\` ran; what has begun on ${machine} goes on there to its end, and the next run waits for it`;
      assert.ok(output().includes(words), output());
      assert.ok(took < END_MILLISECONDS, `${took} ms\n${output()}`);
      await assertNothingLeft();
      await fixture.stack.up();
      assert.deepEqual(Object.keys(await fixture.stack.up()), ["unchanged"]);
    });
});
