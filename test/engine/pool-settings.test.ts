/** Settings of one pool: a preview lists its nodes alone, a kill loses nothing, and a machine that moves gets those of its pool. */
import assert from "node:assert/strict";
import { writesOf } from "../simulation/journal";
import { desiredCluster } from "./desired-cluster";
import { configurations, expectNodes, rolloutKilledAt, succeed } from "./killed-rollout";
import { SET_UP_MILLISECONDS } from "./simulated-fixture";
import { OLD, versionRollout } from "./version-rollout";

const MACHINES = ["cp-1", "w-1", "w-2"];
const START = { "w-1": "gpu", "w-2": "workers" };
const GPU = {
  kubelet: { maxPods: 40 },
  files: [{ path: "/etc/sysctl.d/60-gpu.conf", content: "vm.swappiness = 1\n" }],
};

describe("settings of a pool", function () {
  this.timeout(600_000);
  const rollout = versionRollout(MACHINES);

  before(async function () {
    this.timeout(SET_UP_MILLISECONDS);
    want({ "w-2": "workers" });
    await succeed(rollout, "up");
    want(START);
    await succeed(rollout, "up");
    await rollout.keep();
  });

  /** @param pools the workers with their pools */
  function want(pools: Readonly<Record<string, string>>, others: object = {}): void {
    const { fleet, stack } = rollout.ground;
    const workers = Object.entries(pools).map(([name, pool]) => ({ name, pool }));
    stack.configure({ cluster: desiredCluster(fleet, ["cp-1", ...workers], { version: OLD, ...others }) });
  }

  /** The steps of a preview on nodes and their configuration, without hashes. */
  async function steps(): Promise<string[]> {
    const changes = await rollout.ground.stack.preview();
    return changes
      .flatMap(({ inputs }) => (inputs.steps ?? []) as string[])
      .filter((line) => !line.startsWith("cluster: "))
      .map((line) => line.replaceAll(/\b[0-9a-f]{6}(\.[0-9a-f]{6})+/g, "#"));
  }

  const versions = async () => (await configurations(rollout)) as Record<"cp-1" | "w-1" | "w-2", string[]>;
  const operations = () =>
    rollout.ground.fleet.journal.map(({ operation, machine }) => `${operation} ${machine}`);
  const listed = (name: string) => [
    `${name}: stage configuration #`,
    `${name}: configuration # → # (cordon, drain, apply its files, restart the kubelet, uncordon)`,
  ];
  const NAMED = "configuration: cluster.pools.gpu; each node gets it from its rollout";

  it("are previewed and rolled out on its nodes alone, and taken back", async () => {
    await rollout.startOver();
    want(START, { pools: { gpu: GPU } });
    assert.deepEqual(await steps(), [NAMED, ...listed("w-1")]);
    const before = operations().length;
    await succeed(rollout, "up");
    const done = operations().slice(before);
    assert.ok(done.includes("node-agent w-1"));
    assert.ok(!done.some((each) => /node-agent (w-2|cp-1)|configure-cluster/.test(each)), done.join("\n"));
    const { "w-1": first, ...others } = await versions();
    assert.deepEqual(others, { "cp-1": ["none"], "w-2": ["none"] });
    await expectNodes(rollout, OLD, MACHINES);

    want(START, { pools: { gpu: { kubelet: {} } } });
    assert.deepEqual((await steps()).slice(1), [
      "w-1: stage configuration #",
      "w-1: no longer stage configuration #",
      listed("w-1")[1],
    ]);
    await succeed(rollout, "up");
    const back = await versions();
    assert.notDeepEqual(back["w-1"], first);
    assert.deepEqual(back["w-2"], ["none"]);
    await expectNodes(rollout, OLD, MACHINES);
  });

  it("are there when a machine joins the pool, and not on one that leaves it for another", async () => {
    await rollout.startOver();
    want(START, { pools: { gpu: GPU } });
    await succeed(rollout, "up");
    const { "w-1": gpu } = await versions();
    want({ "w-1": "gpu" }, { pools: { gpu: GPU } });
    await succeed(rollout, "up");
    want({ "w-1": "gpu", "w-2": "gpu" }, { pools: { gpu: GPU } });
    await succeed(rollout, "up");
    assert.deepEqual((await versions())["w-2"], gpu);
    want({ "w-2": "gpu" }, { pools: { gpu: GPU } });
    await succeed(rollout, "up");
    want({ "w-1": "workers", "w-2": "gpu" }, { pools: { gpu: GPU } });
    await succeed(rollout, "up");
    assert.notDeepEqual((await versions())["w-1"], gpu);
    await expectNodes(rollout, OLD, MACHINES);
  });

  for (const point of ["start of node-agent on w-1", "asked w-1"])
    it(`are completed, or taken back, after a kill at: ${point}`, async () => {
      const change = { pools: { gpu: GPU } };
      await rolloutKilledAt(rollout, point, () => want(START, change));
      await succeed(rollout, "up");
      const { "w-1": changed, "w-2": other } = await versions();
      assert.deepEqual([changed.length, other], [1, ["none"]]);
      await expectNodes(rollout, OLD, MACHINES);

      await rolloutKilledAt(rollout, point, () => want(START, change));
      want(START);
      await succeed(rollout, "up");
      assert.notDeepEqual((await versions())["w-1"], changed);
      await expectNodes(rollout, OLD, MACHINES);
    });

  it("that are not valid are refused with their path, and nothing is written", async () => {
    await rollout.startOver();
    const { fleet, stack } = rollout.ground;
    for (const [pools, words] of [
      [{ gpus: GPU }, /cluster\.pools\.gpus.* is not a pool of this cluster; did you mean "gpu"/],
      [{ gpu: { kubelet: { maxPods: null } } }, /cluster\.pools\.gpu\.kubelet\.maxPods.* is empty/],
      [{ gpu: { kubelet: { maxPod: 40 } } }, /cluster\.pools\.gpu\.kubelet\.maxPod\b.* "maxPods"/],
      [{ gpu: { kubeadm: {} } }, /cluster\.pools\.gpu\.kubeadm/],
      [
        { gpu: { kubelet: { systemReserved: { memory: "900Gi" } } } },
        /cluster\.pools\.gpu\.kubelet.* the kubelet would reserve 900Gi \+ 100Mi of memory, and w-1 has 4Gi: it would/,
      ],
    ] as const) {
      want(START, { pools });
      const written = writesOf(fleet.journal);
      const { exitCode, stdout, stderr } = await stack.call(["preview"]);
      assert.notEqual(exitCode, 0, stdout);
      assert.match((stdout + stderr).replaceAll(/\s+/g, " "), words);
      assert.deepEqual(writesOf(fleet.journal), written);
    }
  });
});
