/** A change of configuration is killed at each of its boundaries, and people go on in every way that they can. */
import assert from "node:assert/strict";
import { desiredCluster } from "./desired-cluster";
import { configurations, expectNodes, rolloutKilledAt, succeed } from "./killed-rollout";
import { OLD, versionRollout } from "./version-rollout";

const MACHINES = ["cp-1", "w-1"];
const ALL_TESTS = process.env.FORESAIL_TEST_ALL === "1";

/** A setting with the value to which it is changed, and another one. */
interface Change {
  title: string;
  /** Fields of `cluster`. */
  value: object;
  other: object;
  /** Whether kubelet-config or kubeadm-config is written. */
  isUploaded: boolean;
  nodes: readonly string[];
  /** What happens on each node, in this order. */
  deeds: readonly string[];
}

const WITHOUT_DRAIN = ["opened", "asked", "ready=false", "configured", "ready=true", "closed"];
const apiServer = (value: string) => ({
  kubeadm: {
    clusterConfiguration: { apiServer: { extraArgs: [{ name: "default-watch-cache-size", value }] } },
  },
});
const files = (content: string) => ({ files: [{ path: "/etc/motd", content }] });

const CHANGES: Change[] = [
  {
    title: "of the kubelet",
    ...{ value: { kubelet: { maxPods: 90 } }, other: { kubelet: { maxPods: 80 } } },
    ...{ isUploaded: true, nodes: ["w-1", "cp-1"] },
    deeds: ["opened", "cordoned", "evicted", "asked", "ready=false", "configured", "ready=true", "closed"],
  },
  {
    title: "of the API server",
    ...{ value: apiServer("200"), other: apiServer("300"), isUploaded: true, nodes: ["cp-1"] },
    deeds: WITHOUT_DRAIN,
  },
  {
    title: "of a file",
    ...{ value: files("one\n"), other: files("other\n"), isUploaded: false, nodes: ["w-1", "cp-1"] },
    deeds: WITHOUT_DRAIN,
  },
];

/** The boundaries of a change, in its order. */
const pointsOf = ({ isUploaded, nodes, deeds }: Change): string[] => [
  ...(isUploaded ? ["start of configure-cluster on cp-1"] : []),
  ...nodes.map((node) => `start of node-agent on ${node}`),
  ...nodes.flatMap((node) => deeds.map((deed) => `${deed} ${node}`)),
];

describe("a change of configuration that is killed at a boundary, and then", function () {
  this.timeout(1_800_000);
  const rollout = versionRollout(MACHINES);
  const want = (settings: object) => rollout.want(OLD, {}, settings);
  /** What the cluster's own objects and the Nodes have when no run is killed, by the settings, or by the change that was taken back. */
  const ends = new Map<object, Awaited<ReturnType<typeof settingsFound>>>();
  const UNCHANGED = {};

  /** What kubeadm would give a node, and what the Nodes have. */
  async function settingsFound() {
    return { uploaded: rollout.ground.fleet.state("cp-1").uploaded, nodes: await configurations(rollout) };
  }

  before(async () => {
    for (const change of CHANGES) {
      const { value, other } = change;
      for (const [settings, after] of [
        [value, value],
        [UNCHANGED, change],
        [other, other],
      ] as const) {
        if (settings !== UNCHANGED) await rollout.startOver();
        want(settings);
        await succeed(rollout, "up");
        ends.set(after, await settingsFound());
      }
    }
  });

  /**
   * Asserts that these settings are everywhere, as if no run had been killed, and that nothing is left to do.
   *
   * @param after the settings, or the change that was taken back: a node that it had not reached reports none
   */
  async function expectSettings(after: object, machines: readonly string[] = MACHINES): Promise<void> {
    await expectNodes(rollout, OLD, machines);
    const { uploaded, nodes } = ends.get(after)!;
    const found = await settingsFound();
    assert.equal(found.uploaded, uploaded);
    for (const name of machines) {
      const isUntouched = "title" in after && found.nodes[name]?.join() === "none";
      if (!isUntouched) assert.deepEqual(found.nodes[name], nodes[name], `${name}: its configuration`);
    }
  }

  /** How people go on. */
  const WAYS: [title: string, go: (change: Change) => Promise<void>][] = [
    [
      "the same up",
      async ({ value }) => {
        await succeed(rollout, "up");
        await expectSettings(value);
      },
    ],
    [
      "the change taken back",
      async (change) => {
        want(UNCHANGED);
        await succeed(rollout, "up");
        await expectSettings(change);
      },
    ],
    [
      "another value",
      async ({ other }) => {
        want(other);
        await succeed(rollout, "up");
        await expectSettings(other);
      },
    ],
    [
      "the worker left out",
      async ({ value }) => {
        const { fleet, stack } = rollout.ground;
        stack.configure({ cluster: desiredCluster(fleet, ["cp-1"], { version: OLD, ...value }) });
        await succeed(rollout, "up");
        await expectSettings(value, ["cp-1"]);
        assert.equal(fleet.state("w-1").marker, undefined);
      },
    ],
    [
      "a destroy",
      async () => {
        await succeed(rollout, "destroy");
        for (const name of MACHINES) assert.equal(rollout.ground.fleet.state(name).marker, undefined, name);
      },
    ],
  ];

  /** By day each third boundary is tried in one of the ways, in turn. */
  const cells = CHANGES.flatMap((change) => pointsOf(change).map((point) => ({ change, point })));
  for (const [at, { change, point }] of cells.entries())
    for (const [number, [title, go]] of WAYS.entries())
      if (ALL_TESTS || (at % 3 === 0 && number === (at / 3) % WAYS.length))
        it(`${title}: ${change.title}, killed at ${point}`, async () => {
          await rolloutKilledAt(rollout, point, () => want(change.value));
          await go(change);
        });
});
