/** Every kind of run is killed at the boundaries of its steps, and people go on in every way that they can. */
import assert from "node:assert/strict";
import { byNight } from "../left-out";
import type { JournalEntry } from "../simulation/journal";
import { ClusterSnapshot, describeCluster } from "./cluster-snapshot";
import { desiredCluster, type DesiredMachine } from "./desired-cluster";
import { type KillPoint, nameOf, untilOrphansEnd, upKilledWhen } from "./killed-up";
import { observedCluster } from "./observed-cluster";
import { simulatedFixture } from "./simulated-fixture";

const SMALL = ["cp-1", "w-1"];
const LARGE = ["cp-1", "cp-2", "w-1", "w-2"];
const OTHER_NETWORK = { network: { plugin: { bridge: {} }, podSubnet: "10.200.0.0/16" } };
/** Steps that change a machine so that a run which goes on has to know. */
const EFFECTS = [
  ...["prepare", "init", "join-control-plane", "join-worker", "node-agent", "endpoint"],
  ...["leave-control-plane", "etcd-remove", "reset"],
];
const ALL_TESTS = process.env.FORESAIL_TEST_ALL === "1";
const UP = ["up", "--yes", "--skip-preview"];
const DESTROY = ["destroy", "--yes", "--skip-preview"];

/** What is killed. The end is that of the same command, not killed. */
interface Killed {
  title: string;
  from: "nothing" | "small" | "large";
  machines: string[];
  command: readonly string[];
  /** The machine that a person leaves out, or gives another role, after the kill. */
  edited: string;
  /** The steps that one run has, at which the others are killed by day. */
  byDay: Readonly<Record<string, readonly string[]>>;
}

const RUNS: Killed[] = [
  {
    title: "first up",
    ...{ from: "nothing", machines: SMALL, command: UP, edited: "w-1" },
    byDay: {
      "another pod network": ["start of init on cp-1"],
      "a destroy, and a new cluster": ["start of init on cp-1"],
    },
  },
  {
    title: "up that adds machines",
    ...{ from: "small", machines: LARGE, command: UP, edited: "cp-2" },
    byDay: {
      "the machine left out": ["start of join-control-plane on cp-2", "start of join-worker on w-2"],
    },
  },
  {
    title: "up that removes machines",
    ...{ from: "large", machines: SMALL, command: UP, edited: "w-1" },
    byDay: {},
  },
  {
    title: "destroy",
    ...{ from: "small", machines: SMALL, command: DESTROY, edited: "w-1" },
    byDay: { "an up": ["start of reset on w-1"] },
  },
];

describe("a run that is killed at a step, and then", function () {
  this.timeout(3_600_000);
  const fixture = simulatedFixture({
    machines: LARGE,
    milliseconds: Object.fromEntries(
      ["prepare", "init", "join-control-plane", "join-worker", "node-agent", "endpoint", "reset"].map(
        (operation) => [operation, 80],
      ),
    ),
  });
  const snapshots = new Map<string, ClusterSnapshot>();
  const ends = new Map<string, unknown>();
  const steps = new Map<string, KillPoint[]>();

  const want = (machines: (string | DesiredMachine)[], others: Record<string, unknown> = {}) =>
    fixture.stack.configure({
      cluster: desiredCluster(fixture.fleet, machines, { allowEvenControlPlanes: true, ...others }),
    });
  const run = (command: readonly string[]) => fixture.stack.call(command);
  async function succeed(command: readonly string[]): Promise<void> {
    const { exitCode, stdout, stderr } = await run(command);
    assert.equal(exitCode, 0, `${stdout}\n${stderr}\nthe simulated machines said: ${fixture.fleet.log}`);
  }

  before(async () => {
    snapshots.set("nothing", await ClusterSnapshot.take(fixture));
    for (const { title, from, machines, command, byDay } of RUNS) {
      if (!ALL_TESTS && Object.keys(byDay).length === 0) continue;
      await snapshots.get(from)?.restore();
      want(machines);
      const before = fixture.fleet.journal.length;
      await succeed(command);
      steps.set(title, boundariesOf(fixture.fleet.journal.slice(before)));
      ends.set(title, await describeCluster(fixture));
      if (from === "nothing") snapshots.set("small", await ClusterSnapshot.take(fixture));
      if (from === "small" && command === UP) snapshots.set("large", await ClusterSnapshot.take(fixture));
    }
  });

  /** Restores what a run leaves that is killed at a step; kills it the first time. */
  async function killedAt(killed: Killed, point: KillPoint): Promise<void> {
    const key = `${killed.title}: ${nameOf(point)}`;
    const known = snapshots.get(key);
    want(killed.machines);
    if (known) return known.restore();
    await snapshots.get(killed.from)?.restore();
    const from = fixture.fleet.files.journalLines.length;
    const start = { startUp: () => fixture.stack.start(killed.command) };
    const up = await upKilledWhen(start, "the whole tree", () =>
      fixture.fleet.files.journalLines.slice(from).find((line) => nameOf(line) === nameOf(point)),
    );
    assert.ok(up.killed, `it ended before the ${nameOf(point)}:\n${up.output}`);
    await untilOrphansEnd(up.orphans);
    await fixture.stack.clearDeadLocks();
    snapshots.set(key, await ClusterSnapshot.take(fixture));
  }

  /** The machines that are not given back, with what is left on them. */
  const left = () =>
    LARGE.filter((name) => {
      const { marker, member, prepared } = fixture.fleet.state(name);
      return marker !== undefined || member || prepared;
    });

  /** Asserts that the cluster has these machines and no others, and that nothing is left to do. */
  async function expectCluster(machines: readonly string[]): Promise<void> {
    assert.deepEqual(Object.keys(await observedCluster(fixture.kubernetes)), [...machines].sort());
    assert.deepEqual(left().sort(), [...machines].sort());
    const planes = LARGE.filter((name) => fixture.fleet.state(name).controlPlane);
    assert.deepEqual(
      LARGE.filter((name) => fixture.fleet.state(name).etcdId !== undefined),
      planes,
    );
    assert.deepEqual(await fixture.stack.preview(), []);
  }

  async function expectEnd({ title, command }: Killed): Promise<void> {
    if (command === UP) {
      assert.deepEqual(await describeCluster(fixture), ends.get(title));
      assert.deepEqual(await fixture.stack.preview(), []);
    } else assert.deepEqual(left(), []);
  }

  /** Runs `up`: it ends with the configuration, or is refused in words that name the way on, which leads to the end. */
  async function upOrRefusal(killed: Killed, words: RegExp, expect: () => Promise<void>): Promise<void> {
    const { exitCode, stdout, stderr } = await run(UP);
    if (exitCode === 0) return expect();
    assert.match((stdout + stderr).replaceAll(/\s+/g, " "), words);
    want(killed.machines);
    await succeed(killed.command);
    await expectEnd(killed);
  }

  /** The API server of the tests outlives the cluster that was destroyed, and so do its members of etcd. */
  async function forgetNodes(): Promise<void> {
    for (const name of LARGE) {
      const { etcdId: _, ...state } = fixture.fleet.state(name);
      if (!state.controlPlane) fixture.fleet.files.saveState(name, state);
    }
    for (const { metadata } of await fixture.kubernetes.listNodes())
      await fixture.kubernetes.delete({ apiVersion: "v1", kind: "Node", name: metadata?.name ?? "" });
  }

  const others = ({ machines, edited }: Killed) => machines.filter((name) => name !== edited);

  /** How people go on. */
  const WAYS: [title: string, go: (killed: Killed) => Promise<void>][] = [
    [
      "the same again",
      async (killed) => {
        await succeed(killed.command);
        await expectEnd(killed);
      },
    ],
    [
      "another pod network",
      async (killed) => {
        want(killed.machines, OTHER_NETWORK);
        await upOrRefusal(killed, /network\.podSubnet.*(destroy|set it back)|pulumi destroy/, async () => {
          await expectCluster(killed.machines);
          assert.match(fixture.fleet.state("cp-1").fixed ?? "", /podSubnet 10\.200\.0\.0/);
        });
      },
    ],
    [
      "another name",
      async (killed) => {
        want(killed.machines, { name: "other" });
        await upOrRefusal(killed, /cluster\.name: test|destroy/, () => expectCluster(killed.machines));
      },
    ],
    [
      "the machine left out",
      async (killed) => {
        want(others(killed));
        await upOrRefusal(killed, /destroy/, () => expectCluster(others(killed)));
      },
    ],
    [
      "another role of the machine",
      async (killed) => {
        const { edited } = killed;
        const role = edited.startsWith("cp") ? "worker" : "control-plane";
        const { apiServer } = fixture.fleet.machine(edited);
        const other = { name: edited, role, apiServer: role === "worker" ? undefined : apiServer };
        want([...others(killed), other]);
        await upOrRefusal(killed, /in one run|destroy/, async () => {
          await expectCluster(killed.machines);
          assert.equal(fixture.fleet.state(edited).controlPlane, role === "control-plane");
        });
      },
    ],
    [
      "a destroy, and a new cluster",
      async () => {
        await succeed(DESTROY);
        assert.deepEqual(left(), []);
        await forgetNodes();
        want(SMALL, { name: "second", ...OTHER_NETWORK });
        await succeed(UP);
        await expectCluster(SMALL);
        assert.match(fixture.fleet.state("cp-1").fixed ?? "", /podSubnet 10\.200\.0\.0/);
        want(SMALL);
      },
    ],
    [
      "an up",
      async (killed) => {
        if (killed.command === DESTROY) await forgetNodesOfReset();
        await upOrRefusal(killed, /destroy/, () => expectCluster(killed.machines));
      },
    ],
  ];

  /** A machine that was reset has no kubelet that keeps its Node. */
  async function forgetNodesOfReset(): Promise<void> {
    if (LARGE.some((name) => fixture.fleet.state(name).controlPlane)) return;
    await forgetNodes();
  }

  for (const killed of RUNS)
    for (const [title, go] of WAYS) {
      const byDay = killed.byDay[title] ?? [];
      if (title === "an up" && killed.command === UP) continue;
      const test = async () => {
        const faults: string[] = [];
        for (const point of steps.get(killed.title) ?? []) {
          if (!ALL_TESTS && !byDay.includes(nameOf(point))) continue;
          try {
            await killedAt(killed, point);
            await go(killed);
          } catch (error) {
            faults.push(`killed at the ${nameOf(point)}: ${String(error)}`);
            process.stderr.write(`${killed.title}, ${title}: ${faults.at(-1)?.slice(0, 3000)}\n`);
          }
        }
        assert.deepEqual(faults, [], faults.join("\n\n"));
      };
      describe(killed.title, () => {
        if (byDay.length === 0) byNight("other cells of the table are tried by day");
        it(`${title}, ends as configured or is refused with the way on`, test);
      });
    }
});

/** The start of each step that a journal shows, once. The step goes on to its end on its machine, and no run knows it. */
function boundariesOf(journal: JournalEntry[]): KillPoint[] {
  const points = new Map<string, KillPoint>();
  for (const { operation, machine } of journal.filter((entry) => EFFECTS.includes(entry.operation))) {
    const point = { operation, machine, event: "start" } as const;
    points.set(nameOf(point), point);
  }
  return [...points.values()];
}
