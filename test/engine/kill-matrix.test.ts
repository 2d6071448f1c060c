import assert from "node:assert/strict";
import { byNight } from "../left-out";
import { doneTwice, type JournalEntry, runsAtOnce } from "../simulation/journal";
import { ClusterSnapshot, describeCluster } from "./cluster-snapshot";
import { desiredCluster } from "./desired-cluster";
import { type KilledUp, killedUp, type KillMode, type KillPoint, nameOf, stepsOfOrphans } from "./killed-up";
import { simulatedFixture } from "./simulated-fixture";

/** Scripts that must take effect once, however often the engine is killed. */
const EFFECTS = [
  "prepare",
  "init",
  "join-control-plane",
  "join-worker",
  "leave-control-plane",
  "etcd-remove",
  "reset",
];
/** Only one of these may run in the whole cluster. */
const ONE_AT_A_TIME = ["init", "etcd-remove"];
const SMALL = ["cp-1", "w-1"];
const LARGE = ["cp-1", "cp-2", "cp-3", "w-1", "w-2"];
/** Two of three control planes may not leave in one run. */
const MEDIUM = ["cp-1", "cp-2", "w-1"];

/** What is killed, and when: the engine alone at the end of a step, or all processes at its start. */
const KILLS = [
  { mode: "pulumi alone", event: "end" },
  { mode: "the whole tree", event: "start" },
] as const;

describe("an engine that is killed", function () {
  this.timeout(1_200_000);
  byNight("engine/sweep and engine/interrupted-up kill the engine by day");
  const fixture = simulatedFixture({
    machines: LARGE,
    milliseconds: {
      prepare: 80,
      facts: 30,
      init: 80,
      "admin-kubeconfig": 30,
      "control-plane-secrets": 30,
      "join-control-plane": 80,
      "join-worker": 80,
      "node-agent": 80,
      endpoint: 30,
      reset: 80,
      "leave-control-plane": 30,
      "etcd-remove": 30,
    },
  });
  let empty: ClusterSnapshot;
  let small: ClusterSnapshot;
  let large: ClusterSnapshot;
  let smallCluster: unknown;
  let largeCluster: unknown;
  let mediumCluster: unknown;
  let steps: KillPoint[];

  const want = (machines: string[]) =>
    fixture.stack.configure({
      cluster: desiredCluster(fixture.fleet, machines, { allowEvenControlPlanes: true }),
    });
  const journalFrom = (index: number): JournalEntry[] => fixture.fleet.journal.slice(index);

  before(async function () {
    this.timeout(600_000);
    empty = await ClusterSnapshot.take(fixture);
    want(SMALL);
    await fixture.stack.up();
    steps = pointsOf(fixture.fleet.journal);
    small = await ClusterSnapshot.take(fixture);
    smallCluster = await describeCluster(fixture);
    want(LARGE);
    await fixture.stack.up();
    large = await ClusterSnapshot.take(fixture);
    largeCluster = await describeCluster(fixture);
    want(MEDIUM);
    await fixture.stack.up();
    mediumCluster = await describeCluster(fixture);
  });

  /** After a kill: its lock goes, and orphans, where it left any, begin nothing new. */
  async function settle(up: KilledUp, patiently: boolean): Promise<void> {
    if (patiently) assert.deepEqual(await stepsOfOrphans(fixture, up), [], "an orphan began another step");
    assert.match((await fixture.stack.clearDeadLocks())[0] ?? "", /^cleared the lock/);
  }

  function expectNothingTwice(journal: JournalEntry[]): void {
    assert.deepEqual(doneTwice(journal, EFFECTS), []);
    assert.deepEqual(runsAtOnce(journal, ONE_AT_A_TIME), []);
    const failed = journal.filter(({ outcome }) => outcome !== "done" && outcome !== "nothing to do");
    assert.deepEqual(failed, []);
  }

  /** Kills one `up` at one point; the next one must end with the cluster. */
  async function killOnce(mode: KillMode, point: KillPoint): Promise<void> {
    await empty.restore();
    want(SMALL);
    const from = fixture.fleet.journal.length;
    const up = await killedUp(fixture, mode, (met) => nameOf(met) === nameOf(point));
    assert.ok(up.killed, `up ended before the ${nameOf(point)}:\n${up.output}`);
    // after the end of a step an orphan could begin the next one; after its start the step is still running
    await settle(up, point.event === "end");
    await fixture.stack.up();
    expectNothingTwice(journalFrom(from));
    assert.deepEqual(await describeCluster(fixture), smallCluster);
  }

  /** Kills every `up` at its first event that no earlier one was killed at, until one completes. */
  async function killInTurn(
    mode: KillMode,
    event: KillPoint["event"],
    before: ClusterSnapshot,
    machines: string[],
    after: unknown,
  ): Promise<number> {
    await before.restore();
    want(machines);
    const from = fixture.fleet.journal.length;
    const met = new Set<string>();
    for (;;) {
      const up = await killedUp(fixture, mode, (point) => point.event === event && !met.has(nameOf(point)));
      if (!up.killed) {
        assert.equal(up.exitCode, 0, `${up.output}\nthe simulated machines said: ${fixture.fleet.log}`);
        break;
      }
      met.add(nameOf(up.killed));
      await settle(up, event === "end").catch((error: unknown) => {
        throw new Error(`killed at ${[...met].join(", ")}: ${String(error)}`, { cause: error });
      });
    }
    expectNothingTwice(journalFrom(from));
    assert.deepEqual(await describeCluster(fixture), after);
    return met.size;
  }

  const changes = [
    {
      title: "first up",
      from: () => empty,
      machines: SMALL,
      to: () => smallCluster,
      // an engine that dies before it has asked its dynamic provider anything leaves that idle forever, as Pulumi does
      kills: [KILLS[1]],
    },
    {
      title: "scale-up from 1+1 to 3+2",
      from: () => small,
      machines: LARGE,
      to: () => largeCluster,
      kills: KILLS,
    },
    {
      title: "scale-down from 3+2 to 2+1",
      from: () => large,
      machines: MEDIUM,
      to: () => mediumCluster,
      kills: KILLS,
    },
  ];
  for (const { title, from, machines, to, kills } of changes) {
    for (const { mode, event } of kills) {
      it(`continues with a ${title}, ${mode} killed at the ${event} of each step in turn`, async () => {
        // on a busy machine several steps end before the kill, and count as one
        assert.ok((await killInTurn(mode, event, from(), machines, to())) > 2);
      });
    }
  }

  for (const { mode } of KILLS) {
    it(`leaves a first up that the next one completes, ${mode} killed once at each step`, async () => {
      for (const point of steps) {
        try {
          await killOnce(mode, point);
        } catch (error) {
          const log = fixture.fleet.log;
          throw new Error(`killed at the ${nameOf(point)}: ${(error as Error).message}\n${log}`, {
            cause: error,
          });
        }
      }
    });
  }
});

/** Start and end of each step that a journal shows, once. */
function pointsOf(journal: JournalEntry[]): KillPoint[] {
  const points = journal.flatMap(({ operation, machine }) =>
    (["start", "end"] as const).map((event) => ({ operation, machine, event })),
  );
  return points.filter(
    (point, index) => points.findIndex((other) => nameOf(other) === nameOf(point)) === index,
  );
}
