/** Runs on a simulated CB-Tumblebug are killed, and people go on with an edit or a destroy. clouds/tumblebug-killed goes on with the same run. */
import assert from "node:assert/strict";
import { tumblebugConfiguration } from "../../sandbox/systems/tumblebug-configuration";
import { CREDENTIAL } from "../support/tumblebug";
import { killedCells, KilledCloud, type KilledRun, type Way } from "./killed-cloud";
import { CONNECTIONS, startTumblebug } from "./recorded/tumblebug";
import { PORTS } from "./recorded/recorded-stack";
import { engineToolchain, SET_UP_MILLISECONDS } from "./simulated-fixture";

/** What a person can edit. */
interface Desired {
  name?: string;
  cidr?: string;
  /** The group of workers. */
  workers: { name?: string; replicas: number; spec: string };
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
  const groups = [control, { ...group, ...workers }];
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
    kills: [/TumblebugMcis \S+ updating/, /TumblebugVm \S+ creating/, /NodeGroup \S+ updating/],
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
  { title: "the change taken back", goesBack: true, edit: (_to, from) => from },
  { title: "another spec", edit: (to) => ({ ...to, workers: { replicas: 1, spec: LARGE } }) },
  { title: "three workers", edit: (to) => ({ ...to, workers: { replicas: 3, spec: SMALL } }) },
  {
    title: "another group in its place",
    edit: (to) => ({ ...to, replace: {}, workers: { ...to.workers, name: "x" } }),
  },
  { title: "other settings of the kubelet", edit: (to) => ({ ...to, kubelet: { maxPods: 80 } }) },
  {
    title: "another network",
    edit: (to) => ({ ...to, cidr: "10.31.0.0/16" }),
    refusal: /destroy|set it back/,
  },
  { title: "another name", edit: (to) => ({ ...to, name: "other" }), refusal: /destroy|set it back/ },
  { title: "a destroy" },
];

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
    const { name: group = "w", replicas } = workers;
    const names = (await cloud.nodes()).map((name) => name.replace(/^([a-z]+-\d+).*$/, "$1"));
    const slots = Array.from({ length: replicas }, (_, index) => `${group}-${index + 1}`);
    assert.deepEqual(names, ["cp-1", ...slots]);
    assert.deepEqual(await cloud.machines(), await cloud.nodes());
  }

  const expectNothing = async () => assert.deepEqual(await cloud.machines(), []);

  for (const cell of killedCells(RUNS, WAYS, BY_DAY))
    it(cell.title, () => cloud.go(cell, { expectEnd, expectNothing }));
});
