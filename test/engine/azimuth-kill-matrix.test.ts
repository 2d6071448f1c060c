import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import type { ProcessFacts } from "../../lib/process/identity";
import { API, LEASE_FINALIZER } from "../../providers/azimuth/plan/names";
import { leaveOut } from "../left-out";
import { killProcess } from "../support/process-tree";
import { azimuthFixture, configure, liveObjects } from "./azimuth-fixture";
import { type KillMode, untilOrphansEnd, upKilledWhen } from "./killed-up";

/** The longest time that Helm may take for the fake charts. */
const WORK_MILLISECONDS = 2_000;
const BY_NIGHT = process.env.FORESAIL_TEST_ALL === "1";

/** Every resource, in the order in which a first run makes them. */
const STEPS = [
  "demo-template",
  "demo-record",
  "demo-started",
  "demo-etcd-key",
  "demo-realm",
  "demo-oidc-client",
  "demo-platform",
  "demo-services",
  "demo-lease",
  "demo-zenith-key",
  "demo-gone",
  "demo-chart-recovery",
  "demo-chart",
  "demo-finished",
];

/** The kubernetes plugin ends its work without its engine, and then idles on forever. */
async function untilPluginsIdle(orphans: readonly ProcessFacts[]): Promise<void> {
  const plugins = orphans.filter(({ command }) => command.startsWith("pulumi-resource"));
  if (plugins.length > 0) await pause(WORK_MILLISECONDS);
  plugins.forEach(killProcess);
}

describe("a cluster through Azimuth whose run is killed after each step in turn", function () {
  this.timeout(1_800_000);
  before(function () {
    if (!BY_NIGHT) leaveOut(this, "kills at every step take minutes: FORESAIL_TEST_ALL=1");
  });
  const fixture = azimuthFixture();
  const { get } = liveObjects(fixture);
  const modes: KillMode[] = ["the whole tree", "pulumi alone"];

  for (const mode of modes)
    it(`comes up nevertheless, with one key and one release (${mode})`, async () => {
      configure(fixture);
      const reserved = fixture.registrar.reservations.length;
      for (const step of STEPS) {
        const killed = await upKilledWhen(fixture.stack, mode, (output) =>
          output().includes(`${step} creating`) ? { step } : undefined,
        );
        await untilPluginsIdle(killed.orphans);
        await untilOrphansEnd(killed.orphans);
        await fixture.stack.clearDeadLocks();
      }
      await fixture.stack.up();
      assert.equal(fixture.registrar.reservations.length, reserved + 1, "a name was reserved twice");
      assert.ok(await get(API.clusterApi, "Cluster", "demo"));
      const lease = await get(API.scheduling, "Lease", "demo");
      assert.deepEqual(
        lease?.metadata.finalizers?.filter((name) => name === LEASE_FINALIZER),
        [LEASE_FINALIZER],
      );
      await fixture.stack.up();
      assert.deepEqual(Object.keys(await fixture.stack.up()), ["unchanged"]);
      await fixture.stack.destroy();
      assert.equal(await get(API.azimuth, "Cluster", "demo"), undefined);
    });
});
