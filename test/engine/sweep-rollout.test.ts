/** A rollout is killed at each of its writes, and people go on in every way that they can. engine/sweep kills other runs. */
import assert from "node:assert/strict";
import { desiredCluster } from "./desired-cluster";
import { expectNodes, rolloutKilledAt, succeed } from "./killed-rollout";
import { OLD, versionRollout } from "./version-rollout";

const MACHINES = ["cp-1", "w-1"];
const PATCH = "1.35.6";
const OTHER = "1.35.7";
/** What happens on each node, in this order. */
const DEEDS = ["opened", "cordoned", "evicted", "asked", "ready=false", "upgraded", "ready=true", "closed"];
const POINTS = MACHINES.flatMap((node) => DEEDS.map((deed) => `${deed} ${node}`));
const ALL_TESTS = process.env.FORESAIL_TEST_ALL === "1";

describe("a rollout that is killed at a write, and then", function () {
  this.timeout(1_800_000);
  const rollout = versionRollout(MACHINES);

  const run = (command: string) => rollout.ground.stack.call([command, "--yes", "--skip-preview"]);
  const expectEnd = (version: string, machines = MACHINES) => expectNodes(rollout, version, machines);

  /** Runs `up` to a version, or gets a refusal that names the one that the killed run had begun with, which is reached then. */
  async function upOrComplete(version: string): Promise<void> {
    rollout.want(version);
    const { exitCode, stdout, stderr } = await run("up");
    if (exitCode === 0) return expectEnd(version);
    assert.match((stdout + stderr).replaceAll(/\s+/g, " "), /1\.35\.6/);
    rollout.want(PATCH);
    await succeed(rollout, "up");
    await expectEnd(PATCH);
  }

  /** How people go on, with the writes at which the run is killed by day. */
  const WAYS: [title: string, byDay: readonly string[], go: () => Promise<void>][] = [
    ["the version of before", ["asked w-1"], () => upOrComplete(OLD)],
    ["another version", ["asked cp-1"], () => upOrComplete(OTHER)],
    [
      "the worker left out",
      ["evicted w-1"],
      async () => {
        const { fleet, stack } = rollout.ground;
        stack.configure({ cluster: desiredCluster(fleet, ["cp-1"], { version: PATCH }) });
        await succeed(rollout, "up");
        await expectEnd(PATCH, ["cp-1"]);
        assert.equal(fleet.state("w-1").marker, undefined);
      },
    ],
    [
      "a destroy",
      [],
      async () => {
        await succeed(rollout, "destroy");
        for (const name of MACHINES) assert.equal(rollout.ground.fleet.state(name).marker, undefined, name);
      },
    ],
  ];

  for (const [title, byDay, go] of WAYS)
    for (const point of ALL_TESTS ? POINTS : byDay)
      it(`${title}, killed at: ${point}`, async () => {
        await rolloutKilledAt(rollout, point, () => rollout.want(PATCH));
        await go();
      });
});
