import assert from "node:assert/strict";
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { desiredCluster } from "./desired-cluster";
import { simulatedFixture } from "./simulated-fixture";

const WAITS = /waits for the API server of cp-1, in whose change an earlier run ended: at most 1490 s/g;
const LIMITS = { rollout: { nodeTimeoutSeconds: 1_500 } };
const LINE_MILLISECONDS = 60_000;

describe("a preview while the only control plane is in the middle of a change", () => {
  const fixture = simulatedFixture({ machines: ["cp-1", "w-1"] });
  /** The machine reads its own state only when it is switched on. */
  const change = (state: object) => {
    const { fleet } = fixture;
    fleet.files.saveState("cp-1", { ...fleet.state("cp-1"), ...state });
    fleet.powerOff("cp-1");
    fleet.powerOn("cp-1");
  };

  for (const command of [["preview"], ["up", "--yes", "--skip-preview"]])
    it(`waits for its API server, says so once, and reads everything: ${command[0]}`, async () => {
      fixture.stack.configure({ cluster: desiredCluster(fixture.fleet, ["cp-1", "w-1"], LIMITS) });
      await fixture.stack.up();
      change({ apiServerRuns: false, changing: "10" });
      const { child, output } = fixture.stack.start(command);
      const ended = once(child, "exit") as Promise<[number | null]>;
      for (const deadline = Date.now() + LINE_MILLISECONDS; !output().match(WAITS); await pause(50)) {
        assert.equal(child.exitCode, null, output());
        assert.ok(Date.now() < deadline, output());
      }
      change({ apiServerRuns: true, changing: undefined });
      const [exitCode] = await ended;
      assert.equal(exitCode, 0, output());
      assert.doesNotMatch(output(), /unread|could not be read/);
      // as progress, and among the diagnostics at the end
      assert.ok(output().match(WAITS)!.length <= 2, output());
      assert.deepEqual(await fixture.stack.preview(), []);
    });

  it("does not wait when no change explains the silence", async () => {
    change({ apiServerRuns: false });
    const { exitCode, stdout } = await fixture.stack.call(["preview", "--diff"]);
    change({ apiServerRuns: true });
    assert.equal(exitCode, 0, stdout);
    assert.match(stdout, /w-1: unread/);
    assert.doesNotMatch(stdout, /waits for the API server/);
  });
});
