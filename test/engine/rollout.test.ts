import assert from "node:assert/strict";
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { readProcess } from "../../clients/process/identity";
import { obeyAnnotations, type Seen } from "../simulation/simulated-agents";
import { clusterWish } from "./cluster-wish";
import { descendants, killProcess } from "../support/process-tree";
import { simulatedGround } from "./simulated-ground";

const MACHINES = ["cp-1", "w-1", "w-2"];
const OLD = "1.35.4";
const NEW = "1.36.3";

describe("a changed version under the engine", function () {
  this.timeout(300_000);
  const ground = simulatedGround({ machines: MACHINES, version: `v${OLD}` });
  const seen: Seen = [];
  const stop = new AbortController();
  let agents: Promise<void>;
  const want = (version: string, rollout: object = {}) =>
    ground.stack.configure({ cluster: clusterWish(ground.fleet, MACHINES, { version, rollout }) });
  const rolloutSteps = async () =>
    (await ground.stack.preview()).find(({ name }) => name === "test-rollout")?.inputs.steps as
      string[] | undefined;
  const openings = () => seen.filter((line) => line.endsWith(" opened"));

  before(async () => {
    const metadata = { namespace: "kube-system", name: "kubeadm-config" };
    const data = { ClusterConfiguration: `kubernetesVersion: v${OLD}\n` };
    await ground.kubernetes.create({ apiVersion: "v1", kind: "ConfigMap", metadata, data });
    agents = obeyAnnotations(ground.kubernetes, seen, { milliseconds: 300, signal: stop.signal });
    want(OLD);
    await ground.stack.up();
  });
  after(async () => {
    stop.abort();
    await agents;
  });

  it("rolls out nothing on a fresh cluster, and the next up changes nothing", async () => {
    assert.deepEqual(seen, []);
    assert.deepEqual(Object.keys(await ground.stack.up()), ["unchanged"]);
    assert.equal((await ground.stack.outputs()).version, OLD);
  });

  it("goes on after a kill in the middle, and does what the preview listed", async () => {
    want(NEW);
    assert.deepEqual(await rolloutSteps(), [
      "cp-1 1.35.4 → 1.36.3 (cordon, drain, kubeadm upgrade apply, uncordon)",
      "w-1 1.35.4 → 1.36.3 (cordon, drain, kubeadm upgrade node, uncordon)",
      "w-2 1.35.4 → 1.36.3 (cordon, drain, kubeadm upgrade node, uncordon)",
    ]);
    const { child, output } = ground.stack.startUp();
    const ended = once(child, "exit");
    while (!seen.includes(`w-1 asked for v${NEW}`)) {
      assert.equal(child.exitCode, null, output());
      await pause(20);
    }
    const engine = readProcess(child.pid!)!;
    [engine, ...descendants(engine.pid)].forEach(killProcess);
    await ended;
    await ground.stack.clearDeadLocks();
    const rest = await rolloutSteps();
    assert.match(
      rest?.[0] ?? "",
      /^w-1 1\.3\d\.\d → 1\.36\.3 \(begun by an earlier run: |^w-1 1\.36\.3 \(begun/,
    );
    assert.match(rest?.[1] ?? "", /^w-2 1\.35\.4 → 1\.36\.3/);
    assert.equal(rest?.length, 2);
    await ground.stack.up();
    assert.deepEqual(
      openings(),
      MACHINES.map((name) => `${name} opened`),
    );
    for (const name of MACHINES) {
      assert.equal(seen.filter((line) => line === `${name} asked for v${NEW}`).length, 1, seen.join("\n"));
      assert.equal(seen.filter((line) => line === `${name} closed`).length, 1, seen.join("\n"));
    }
  });

  it("has the versions in the outputs, and nothing left to do", async () => {
    const { version, nodes } = await ground.stack.outputs();
    assert.equal(version, NEW);
    assert.deepEqual(
      (nodes as { version: string }[]).map((node) => node.version),
      MACHINES.map(() => NEW),
    );
    assert.deepEqual(Object.keys(await ground.stack.up()), ["unchanged"]);
    assert.equal(await rolloutSteps(), undefined);
  });
});
