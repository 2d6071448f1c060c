/** Runs on a simulated CB-Tumblebug are killed, and people go on with an edit or a destroy. clouds/tumblebug-killed goes on with the same run. */
import assert from "node:assert/strict";
import { tumblebugConfiguration } from "../../sandbox/systems/tumblebug-configuration";
import { CREDENTIAL } from "../support/tumblebug";
import { KilledCloud, type KilledRun, type Way } from "./killed-cloud";
import { CONNECTIONS, startTumblebug } from "./recorded/tumblebug";
import { PORTS } from "./recorded/recorded-stack";
import { engineToolchain, SET_UP_MILLISECONDS } from "./simulated-fixture";

const ALL_TESTS = process.env.FORESAIL_TEST_ALL === "1";

/** What a person can edit. */
interface Desired {
  name?: string;
  cidr?: string;
  /** Workers, with their spec; absent for no group of workers. */
  workers?: { replicas: number; spec: string };
  /** How often the machine of a slot was replaced. */
  replace?: Record<string, number>;
  kubelet?: object;
}
const [SMALL, LARGE] = ["t3.medium", "t3.large"];
const ONE: Desired = { workers: { replicas: 1, spec: SMALL } };

function configuration({
  name = "sandbox",
  cidr = "10.21.0.0/16",
  workers,
  replace = {},
  kubelet = {},
}: Desired) {
  const { cluster, tumblebug } = tumblebugConfiguration(
    {
      size: { controlPlanes: 1, workers: 1 },
      access: { address: `http://127.0.0.1:${PORTS.service}/tumblebug`, ...CREDENTIAL },
      ...{ generation: "infra", connections: [CONNECTIONS[0]!.name], cidr },
    },
    { name, kubelet },
  );
  const [control, group] = tumblebug["groups"] as object[];
  const groups = [control, ...(workers ? [{ ...group, ...workers }] : [])];
  return { system: "tumblebug", cluster, tumblebug: { ...tumblebug, groups, replace } };
}

const RUNS: KilledRun<Desired>[] = [
  {
    title: "the first up",
    to: ONE,
    kills: [/TumblebugMcis \S+ creating/, /ClusterInit \S+ creating/, /NodeGroup \S+ creating/],
  },
  {
    title: "a scale-up",
    from: ONE,
    to: { workers: { replicas: 2, spec: SMALL } },
    kills: [/TumblebugMcis \S+ updating/, /NodeGroup \S+ updating/],
  },
  {
    title: "a replacement by another spec",
    from: ONE,
    to: { workers: { replicas: 1, spec: LARGE }, replace: { "w-1": 1 } },
    kills: [/TumblebugMcis \S+ updating/, /NodeGroup \S+ updating/],
  },
  {
    title: "a rollout of the kubelet's settings",
    from: ONE,
    to: { ...ONE, kubelet: { maxPods: 90 } },
    kills: [/NodeAgents \S+ updating/, /begins w-1/, /begins cp-1/],
  },
];

const WAYS: Way<Desired>[] = [
  { title: "the same up", edit: (to) => to },
  { title: "the change taken back", edit: (_to, from) => from },
  { title: "another spec", edit: (to) => ({ ...to, workers: { replicas: 1, spec: LARGE } }) },
  { title: "three workers", edit: (to) => ({ ...to, workers: { replicas: 3, spec: SMALL } }) },
  { title: "the group left out", edit: ({ workers: _, ...to }) => to },
  { title: "other settings of the kubelet", edit: (to) => ({ ...to, kubelet: { maxPods: 80 } }) },
  {
    title: "another network",
    edit: (to) => ({ ...to, cidr: "10.31.0.0/16" }),
    refusal: /destroy|set it back/,
  },
  { title: "another name", edit: (to) => ({ ...to, name: "other" }), refusal: /destroy|set it back/ },
  { title: "a destroy" },
];

/** The cells by day: number of the run, of the kill and of the way. */
const BY_DAY = ["0 1 3", "0 2 8", "2 0 1"];

describe("a run on a CB-Tumblebug that is killed, and then", function () {
  this.timeout(SET_UP_MILLISECONDS);
  let cloud: KilledCloud<Desired>;

  before(async () => {
    const toolchain = await engineToolchain();
    cloud = new KilledCloud({ start: startTumblebug, toolchain, configuration });
  });
  afterEach(() => cloud?.close());

  /** Asserts that the server has the VMs that are configured, and no others. */
  async function expectEnd({ workers }: Desired): Promise<void> {
    const names = (await cloud.nodes()).map((name) => name.replace(/^((?:cp|w)-\d+).*$/, "$1"));
    const slots = Array.from({ length: workers?.replicas ?? 0 }, (_, index) => `w-${index + 1}`);
    assert.deepEqual(names, ["cp-1", ...slots]);
    assert.deepEqual(await cloud.machines(), await cloud.nodes());
  }

  const expectNothing = async () => assert.deepEqual(await cloud.machines(), []);

  for (const [one, run] of RUNS.entries())
    for (const [two, kill] of run.kills.entries())
      for (const [three, way] of WAYS.entries()) {
        if (run.from === undefined && way.title === "the change taken back") continue;
        if (ALL_TESTS || BY_DAY.includes(`${one} ${two} ${three}`))
          it(`${way.title}: ${run.title}, killed at ${kill.source}`, () =>
            cloud.go(run, kill, way, { expectEnd, expectNothing }));
      }
});
