import assert from "node:assert/strict";
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { readProcess } from "../../lib/process/identity";
import { annotationKeys } from "../../providers/kubeadm/plan/rollout/annotations";
import { obeyAnnotations, type Seen } from "../simulation/simulated-agents";
import { awaitPower } from "./node-power";
import { desiredCluster, type DesiredMachine } from "./desired-cluster";
import { descendants, killProcess } from "../support/process-tree";
import { simulatedFixture } from "./simulated-fixture";

const KEYS = annotationKeys();
const MACHINES = ["cp-1", "w-1", "w-2"];
const OLD = "1.35.4";
const NEW = "1.36.3";
const PATCH = "1.36.4";

describe("a changed version under the engine", function () {
  this.timeout(300_000);
  const fixture = simulatedFixture({ machines: MACHINES, version: `v${OLD}` });
  const seen: Seen = [];
  const stop = new AbortController();
  let agents: Promise<void>;
  const want = (version: string, rollout: object = {}, machines: (string | DesiredMachine)[] = MACHINES) =>
    fixture.stack.configure({ cluster: desiredCluster(fixture.fleet, machines, { version, rollout }) });
  const rolloutSteps = async () =>
    (await fixture.stack.preview()).find(({ name }) => name === "test-rollout")?.inputs.steps as
      string[] | undefined;
  const openings = () => seen.filter((line) => line.endsWith(" opened"));

  before(async () => {
    const metadata = { namespace: "kube-system", name: "kubeadm-config" };
    const data = { ClusterConfiguration: `kubernetesVersion: v${OLD}\n` };
    await fixture.kubernetes.create({ apiVersion: "v1", kind: "ConfigMap", metadata, data });
    agents = obeyAnnotations(fixture.kubernetes, seen, { milliseconds: 300, signal: stop.signal });
    want(OLD);
    await fixture.stack.up();
  });
  after(async () => {
    stop.abort();
    await agents;
  });

  it("rolls out nothing on a fresh cluster, and the next up changes nothing", async () => {
    assert.deepEqual(seen, []);
    assert.deepEqual(Object.keys(await fixture.stack.up()), ["unchanged"]);
    assert.equal((await fixture.stack.outputs()).version, OLD);
  });

  it("continues after a kill during the rollout, and does what the preview listed", async () => {
    want(NEW);
    assert.deepEqual(await rolloutSteps(), [
      "cp-1 1.35.4 → 1.36.3 (cordon, drain, kubeadm upgrade apply, uncordon)",
      "w-1 1.35.4 → 1.36.3 (cordon, drain, kubeadm upgrade node, uncordon)",
      "w-2 1.35.4 → 1.36.3 (cordon, drain, kubeadm upgrade node, uncordon)",
    ]);
    const { child, output } = fixture.stack.startUp();
    const ended = once(child, "exit");
    while (!seen.includes(`w-1 asked for v${NEW}`)) {
      assert.equal(child.exitCode, null, output());
      await pause(20);
    }
    const engine = readProcess(child.pid!)!;
    [engine, ...descendants(engine.pid)].forEach(killProcess);
    await ended;
    await fixture.stack.clearDeadLocks();
    const rest = await rolloutSteps();
    assert.match(
      rest?.[0] ?? "",
      /^w-1 1\.3\d\.\d → 1\.36\.3 \(begun by an earlier run: |^w-1 1\.36\.3 \(begun/,
    );
    assert.match(rest?.[1] ?? "", /^w-2 1\.35\.4 → 1\.36\.3/);
    assert.equal(rest?.length, 2);
    await fixture.stack.up();
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
    const { version, nodes } = await fixture.stack.outputs();
    assert.equal(version, NEW);
    assert.deepEqual(
      (nodes as { version: string }[]).map((node) => node.version),
      MACHINES.map(() => NEW),
    );
    assert.deepEqual(Object.keys(await fixture.stack.up()), ["unchanged"]);
  });

  describe("with pending updates of the operating system", () => {
    const LIST = "0123456789ab";
    const UPDATE = `update 1 package of the operating system, list ${LIST} (cordon, drain, install these versions, reboot if the machine asks for it, uncordon): openssl 3.0.15-1`;
    const reports = (name: string, text: string) =>
      fixture.kubernetes.mergePatch(
        { apiVersion: "v1", kind: "Node", name },
        { metadata: { annotations: { [KEYS.current("os-updates")]: text } } },
      );
    const annotationsOf = async (name: string) =>
      (await fixture.kubernetes.getNode(name))?.metadata?.annotations ?? {};

    it("installs nothing with the run that installs what reports them", async () => {
      await reports("cp-1", "none - 0 -");
      for (const name of ["w-1", "w-2"]) await reports(name, `${LIST} - 1 - openssl=3.0.15-1`);
      want((await fixture.stack.outputs()).version as string, { osUpdates: {} });
      seen.length = 0;
      assert.deepEqual(await rolloutSteps(), []);
      await fixture.stack.up();
      assert.deepEqual(seen, []);
    });

    it("lists them, installs these, and has nothing left to do", async () => {
      assert.deepEqual(await rolloutSteps(), [`w-1: ${UPDATE}`, `w-2: ${UPDATE}`]);
      await fixture.stack.up();
      const windows = seen.filter((line) => !line.includes("asked"));
      assert.deepEqual(windows, ["w-1 opened", "w-1 closed", "w-2 opened", "w-2 closed"]);
      const { [KEYS.current("os-updates")]: report, [KEYS.desired("os-updates")]: asked } =
        await annotationsOf("w-2");
      assert.deepEqual([report, asked], [`none ${LIST} 0 -`, undefined]);
      assert.deepEqual(Object.keys(await fixture.stack.up()), ["unchanged"]);
    });
  });

  describe("with a worker that a person cordoned", () => {
    const cordon = (unschedulable: boolean | null) =>
      fixture.kubernetes.mergePatch(
        { apiVersion: "v1", kind: "Node", name: "w-2" },
        { spec: { unschedulable } },
      );
    const failing = async (...command: string[]) => {
      const { exitCode, stdout, stderr } = await fixture.stack.call(command);
      assert.notEqual(exitCode, 0);
      return (stdout + stderr).replaceAll(/\s+/g, " ");
    };
    const WAITS = "w-1: stays as it is until these are uncordoned: w-2";
    const REASON =
      /w-2 of workers cordoned outside of this rollout, and at most 1 of the pool may be away: uncordon/;

    it("changes it first, as the preview says, and leaves the others until it is uncordoned", async () => {
      await cordon(true);
      want(PATCH);
      const steps = await rolloutSteps();
      assert.match(steps?.[1] ?? "", /^w-2 1\.36\.3 → 1\.36\.4 \(.*left cordoned\)$/);
      assert.deepEqual([steps?.length, steps?.[2]], [3, WAITS]);
      assert.match(await failing("up", "--yes", "--skip-preview"), REASON);
      const versions = (await fixture.kubernetes.listNodes()).map(
        (node) => node.status?.nodeInfo?.kubeletVersion,
      );
      assert.deepEqual(versions.sort(), [`v${NEW}`, `v${PATCH}`, `v${PATCH}`]);
    });

    it("is refused by name while no node can change, and ends when the worker is uncordoned", async () => {
      assert.match(await failing("preview"), REASON);
      await cordon(null);
      assert.match((await rolloutSteps())?.join() ?? "", /^w-1 1\.36\.3 → 1\.36\.4 /);
      await fixture.stack.up();
      assert.deepEqual(Object.keys(await fixture.stack.up()), ["unchanged"]);
    });
  });

  describe("with an unreachable worker", () => {
    const NEXT = "1.36.5";
    const LAST = "1.36.6";
    const versions = async (): Promise<Record<string, string | undefined>> =>
      Object.fromEntries(
        (await fixture.kubernetes.listNodes()).map((node) => [
          node.metadata?.name ?? "",
          node.status?.nodeInfo?.kubeletVersion,
        ]),
      );
    const failingUp = async () => {
      const { exitCode, stdout, stderr } = await fixture.stack.call(["up", "--yes", "--skip-preview"]);
      assert.notEqual(exitCode, 0);
      return stdout + stderr;
    };
    const line = (name: string, from: string, to: string) =>
      `${name} ${from} → ${to} (cordon, drain, kubeadm upgrade ${name === "cp-1" ? "apply" : "node"}, uncordon)`;

    it("leaves it out as the preview says, rolls the others, and fails with an error that names it", async () => {
      fixture.fleet.powerOff("w-1");
      await awaitPower(fixture.kubernetes, "w-1", false);
      want(NEXT);
      assert.deepEqual(await rolloutSteps(), [
        line("cp-1", PATCH, NEXT),
        line("w-2", PATCH, NEXT),
        "w-1: left out, its Node is not Ready (NodeStatusUnknown: Kubelet stopped posting node status.); the next `up` continues with it",
      ]);
      assert.match(await failingUp(), /NodesLeftOut.*every other node is done; w-1 was left out/);
      assert.deepEqual(await versions(), { "cp-1": `v${NEXT}`, "w-1": `v${PATCH}`, "w-2": `v${NEXT}` });
    });

    it("needs no step when it is paused, and only records that", async () => {
      want(NEXT, { pausedNodes: ["w-1"] });
      assert.deepEqual(await rolloutSteps(), []);
      await fixture.stack.up();
      assert.equal(await rolloutSteps(), undefined);
    });

    it("continues with it when it is back", async () => {
      fixture.fleet.powerOn("w-1");
      await awaitPower(fixture.kubernetes, "w-1", true);
      want(NEXT);
      assert.deepEqual(await rolloutSteps(), [line("w-1", PATCH, NEXT)]);
      await fixture.stack.up();
      assert.deepEqual(Object.keys(await fixture.stack.up()), ["unchanged"]);
    });

    it("rolls the others when it is unreachable by SSH only, which no preview knows", async () => {
      const elsewhere = { name: "w-1", port: 1 };
      want(LAST, {}, ["cp-1", elsewhere, "w-2"]);
      assert.deepEqual(await rolloutSteps(), [
        line("cp-1", NEXT, LAST),
        line("w-1", NEXT, LAST),
        line("w-2", NEXT, LAST),
      ]);
      const output = await failingUp();
      assert.match(output, /NodesLeftOut.*w-1 was left out, its machine could not be reached over SSH/);
      assert.deepEqual(await versions(), { "cp-1": `v${LAST}`, "w-1": `v${NEXT}`, "w-2": `v${LAST}` });
      want(LAST);
      await fixture.stack.up();
      assert.equal((await versions())["w-1"], `v${LAST}`);
      assert.deepEqual(Object.keys(await fixture.stack.up()), ["unchanged"]);
    });
  });
});
