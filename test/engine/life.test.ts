import assert from "node:assert/strict";
import { UNKNOWN } from "../../lib/unknown";
import { doneTwice, runsAtOnce } from "../simulation/journal";
import { newKey } from "../support/ssh-server";
import { withoutPreparation } from "../support/steps";
import { attachVolume } from "./attached-volume";
import { desiredCluster, type DesiredMachine } from "./desired-cluster";
import { observedCluster } from "./observed-cluster";
import { simulatedFixture } from "./simulated-fixture";
import type { PreviewStep } from "./test-stack";
import { AGENT_VERSION } from "../../providers/kubeadm/machine/node-agent";
import { nodeGroupSteps } from "../../providers/kubeadm/plan/steps";
import { stepsOfKind } from "../support/steps";

/** How often an `up` that adds one worker writes the whole state (docs/adr/0057-state-of-large-clusters.md, 0071-ownership.md). */
const WRITES_OF_A_WORKER = 16;
const PREPARED_ONCE = ["prepare", "init", "join-control-plane", "join-worker"];

describe("the life cycle of a cluster under the engine", () => {
  const fixture = simulatedFixture({
    machines: ["cp-1", "cp-2", "cp-3", "cp-4", "w-1", "w-2", "w-3", "w-4", "w-5", "w-6", "w-7"],
    milliseconds: { "join-control-plane": 1_000, "join-worker": 100, prepare: 50 },
  });
  const want = (machines: (string | DesiredMachine)[], others: Record<string, unknown> = {}) =>
    fixture.stack.configure({ cluster: desiredCluster(fixture.fleet, machines, others) });
  const stepsOf = (preview: PreviewStep[], resource: string) =>
    preview.find(({ name }) => name === resource)?.inputs.steps;
  const allSteps = (preview: PreviewStep[]) =>
    preview.flatMap(({ inputs }) => (inputs.steps ?? []) as string[]);
  const nodes = () => observedCluster(fixture.kubernetes);
  const expectUnchanged = async () => assert.deepEqual(Object.keys(await fixture.stack.up()), ["unchanged"]);

  it("refuses an invalid configuration with every issue and its path, and changes nothing", async () => {
    want(["cp-1", { name: "cp-2", role: "control-plain" }, { name: "w-1", port: 70000 }], {
      network: { podSubnet: "10.244.0.0/33" },
      nmae: "typo",
    });
    const { exitCode, stdout, stderr } = await fixture.stack.call(["up", "--yes"]);
    assert.notEqual(exitCode, 0);
    for (const path of ["machines[1].role", "machines[2].port", "network.podSubnet", "nmae"])
      assert.ok((stdout + stderr).includes(path), `${path} is not named in:\n${stdout}\n${stderr}`);
    assert.deepEqual(fixture.fleet.journal, []);
    assert.deepEqual((await fixture.stack.export()).deployment.resources ?? [], []);
  });

  it("comes up, and a second up changes nothing", async () => {
    want(["cp-1", "w-1"]);
    await fixture.stack.up();
    assert.deepEqual(await nodes(), {
      "cp-1": { group: "control-plane", ready: true },
      "w-1": { group: "workers", ready: true },
    });
    const outputs = await fixture.stack.outputs();
    assert.match(String(outputs.kubeconfig), /client-key-data/);
    assert.deepEqual(outputs.nodes, [
      { name: "cp-1", role: "control-plane", version: "1.36.3", address: "10.90.1.1" },
      { name: "w-1", role: "worker", version: "1.36.3", address: "10.90.2.1" },
    ]);
    // the join of w-1 has installed its agent
    const agents = fixture.fleet.journal.filter(({ operation }) => operation === "node-agent");
    assert.ok(agents.length > 0 && agents.every(({ machine }) => machine === "cp-1"));
    await expectUnchanged();
  });

  it("previews a new worker as a step, with a kubeconfig that is known, and joins it", async () => {
    want(["cp-1", "w-1", "w-2"]);
    const preview = await fixture.stack.preview();
    assert.deepEqual(withoutPreparation(stepsOf(preview, "test-workers")), [
      "w-2: join as worker of workers, wait until Ready",
      "cluster DNS: move its pods apart if all of them are on one node",
    ]);
    assert.deepEqual(
      preview.filter(({ inputs }) => JSON.stringify(inputs).includes(UNKNOWN)),
      [],
      "something is unknown in the preview",
    );
    assert.equal(
      preview.some(({ type }) => type.endsWith("AdminKubeconfig")),
      false,
    );
    assert.equal(await fixture.stack.upCountingWrites(), WRITES_OF_A_WORKER);
    assert.deepEqual(Object.keys(await nodes()), ["cp-1", "w-1", "w-2"]);
    await expectUnchanged();
  });

  it("sets labels and taints, and removes only its own", async () => {
    const taints = [{ key: "dedicated", value: "gpu", effect: "NoSchedule" }];
    want(["cp-1", "w-1", { name: "w-2", labels: { zone: "a" }, taints }]);
    assert.deepEqual(stepsOf(await fixture.stack.preview(), "test-workers"), [
      "w-2: label zone=a, taint dedicated=gpu:NoSchedule",
    ]);
    await fixture.stack.up();
    const reference = { apiVersion: "v1", kind: "Node", name: "w-2" };
    interface Labelled {
      metadata: { labels: Record<string, string> };
      spec: { taints?: { key: string }[] };
    }
    const set = await fixture.kubernetes.get<Labelled>(reference);
    assert.equal(set?.metadata.labels.zone, "a");
    const setByForesail = set?.spec.taints?.filter(({ key }) => !key.startsWith("node.kubernetes.io/"));
    assert.deepEqual(setByForesail, taints);
    // an administrator's taint, of which the kubelet's own annotation says that it is foresail's
    await fixture.kubernetes.mergePatch(reference, {
      metadata: { annotations: { "foresail/taints": "dedicated,quarantine", "foresail/labels": "zone" } },
      spec: { taints: [...(set?.spec.taints ?? []), { key: "quarantine", effect: "NoSchedule" }] },
    });
    await expectUnchanged();
    want(["cp-1", "w-1", "w-2"]);
    assert.deepEqual(stepsOf(await fixture.stack.preview(), "test-workers"), [
      "w-2: label zone removed, taint dedicated=gpu:NoSchedule removed",
    ]);
    await fixture.stack.up();
    const taken = await fixture.kubernetes.get<Labelled>(reference);
    assert.equal(taken?.metadata.labels.zone, undefined);
    const left = (taken?.spec.taints ?? []).map(({ key }) => key);
    assert.deepEqual([left.includes("dedicated"), left.includes("quarantine")], [false, true]);
  });

  it("adds a control plane as soon as etcd has the one before it, and updates every node's endpoint", async () => {
    want(["cp-1", "cp-2", "cp-3", "w-1", "w-2"]);
    assert.deepEqual(withoutPreparation(stepsOf(await fixture.stack.preview(), "test-control-plane")), [
      "cp-2: join as control plane unless it is one, wait until Ready",
      "cp-3: join as control plane unless it is one, wait until Ready",
      "cluster DNS: move its pods apart if all of them are on one node",
    ]);
    await fixture.stack.up();
    assert.equal(runsAtOnce(fixture.fleet.journal, ["join-control-plane"]).length, 1);
    for (const name of ["cp-1", "cp-2", "cp-3", "w-1", "w-2"])
      assert.equal(new Set(fixture.fleet.state(name).backends).size, 3, name);
    const { kubeconfig } = await fixture.stack.outputs();
    for (const name of ["cp-1", "cp-2", "cp-3"])
      assert.ok(String(kubeconfig).includes(fixture.fleet.machine(name).apiServer), name);
    await expectUnchanged();
  });

  it("refuses to remove a majority of the control planes, and changes nothing", async () => {
    want(["cp-3", "w-1", "w-2"]);
    const asked = fixture.fleet.journal.length;
    const { exitCode, stdout, stderr } = await fixture.stack.call(["up", "--yes"]);
    assert.notEqual(exitCode, 0);
    assert.match(stdout + stderr, /cp-2, cp-1 would leave at once, a majority of the 3 control planes/);
    assert.equal(fixture.fleet.journal.length, asked);
  });

  it("replaces the first control plane", async () => {
    want(["cp-2", "cp-3", "cp-4", "w-1", "w-2"]);
    assert.deepEqual(withoutPreparation(stepsOf(await fixture.stack.preview(), "test-control-plane")), [
      "cp-4: join as control plane unless it is one, wait until Ready",
      "cluster DNS: move its pods apart if all of them are on one node",
      "cp-1: cordon, drain, remove its etcd member, kubeadm reset, delete its Node",
    ]);
    await fixture.stack.up();
    assert.deepEqual(Object.keys(await nodes()), ["cp-2", "cp-3", "cp-4", "w-1", "w-2"]);
    const { member, etcdId } = fixture.fleet.state("cp-1");
    assert.deepEqual({ member, etcdId }, { member: false, etcdId: undefined });
    await expectUnchanged();
  });

  it("restores a Node that someone deleted, after a refresh", async () => {
    assert.equal((await fixture.stack.refresh())["updated"], undefined);
    await fixture.kubernetes.delete({ apiVersion: "v1", kind: "Node", name: "w-2" });
    assert.equal((await fixture.stack.refresh())["updated"], 1);
    assert.deepEqual(stepsOf(await fixture.stack.preview(), "test-workers"), [
      "w-2: register again, since it is a member without a Node: restart its kubelet, wait until Ready, set its labels and taints",
      "cluster DNS: move its pods apart if all of them are on one node",
    ]);
    const before = fixture.fleet.journal.length;
    await fixture.stack.up();
    assert.deepEqual((await nodes())["w-2"], { group: "workers", ready: true });
    const operations = fixture.fleet.journal.slice(before).map(({ operation }) => operation);
    // its agent is as the join has installed it
    assert.ok(operations.includes("register") && !operations.includes("node-agent"));
    assert.equal(fixture.fleet.state("w-2").agent, AGENT_VERSION);
    await expectUnchanged();
  });

  it("restores label and taint of a control plane whose Node was deleted, as the preview says", async () => {
    const role = "node-role.kubernetes.io/control-plane";
    const reference = { apiVersion: "v1", kind: "Node", name: "cp-3" };
    const roleOf = async () => {
      const node = await fixture.kubernetes.getNode("cp-3");
      const taint = node?.spec?.taints?.find(({ key }) => key === role);
      return { label: node?.metadata?.labels?.[role], taint: taint?.effect };
    };
    await fixture.kubernetes.delete(reference);
    assert.deepEqual(stepsOf(await fixture.stack.preview(), "test-control-plane"), [
      "cp-3: register again, since it is a member without a Node: restart its kubelet, wait until Ready, set its labels and taints",
      "cluster DNS: move its pods apart if all of them are on one node",
    ]);
    await fixture.stack.up();
    assert.deepEqual(await roleOf(), { label: "", taint: "NoSchedule" });
    // what an earlier foresail left of such a Node
    await fixture.kubernetes.mergePatch(reference, {
      metadata: { labels: { [role]: null } },
      spec: { taints: [] },
    });
    const lines = stepsOf(await fixture.stack.preview(), "test-control-plane") as string[];
    const [settings] = stepsOfKind(nodeGroupSteps, "settings", lines);
    const [label, ...others] = settings?.changes.map(({ what, setting }) => `${what} ${setting}`) ?? [];
    assert.deepEqual([lines.length, settings?.machine, label], [1, "cp-3", `label ${role}=`]);
    assert.match(others.join(), /taint/);
    await fixture.stack.up();
    assert.deepEqual(await roleOf(), { label: "", taint: "NoSchedule" });
    await expectUnchanged();
  });

  it("removes a worker: drained, its volumes detached, reset, its Node deleted", async () => {
    const volume = await attachVolume(fixture.kubernetes, "w-2", () => fixture.fleet.state("w-2").marker);
    want(["cp-2", "cp-3", "cp-4", "w-1"]);
    assert.deepEqual(stepsOf(await fixture.stack.preview(), "test-workers"), [
      "w-2: cordon, drain, wait at most 300 s until its volumes are detached, kubeadm reset, delete its Node",
    ]);
    await fixture.stack.up(volume.onLine);
    assert.ok(volume.seen, "nothing waited, or the machine was reset before its volume was detached");
    assert.deepEqual(Object.keys(await nodes()), ["cp-2", "cp-3", "cp-4", "w-1"]);
    assert.equal(fixture.fleet.state("w-2").marker, undefined);
    await expectUnchanged();
  });

  it("uncordons a worker whose removal failed twice when it is configured again", async () => {
    const stay = ["cp-2", "cp-3", "cp-4", "w-1"];
    want([...stay, "w-7"]);
    await fixture.stack.up();
    fixture.fleet.powerOff("w-7");
    want(stay);
    for (let run = 1; run <= 2; run++)
      assert.notEqual((await fixture.stack.call(["up", "--yes", "--skip-preview"])).exitCode, 0);
    fixture.fleet.powerOn("w-7");
    want([...stay, "w-7"]);
    assert.deepEqual(stepsOf(await fixture.stack.preview(), "test-workers"), [
      "w-7: stays, although an earlier run began to remove it: uncordon",
    ]);
    await fixture.stack.up();
    const { metadata, spec } = (await fixture.kubernetes.getNode("w-7")) ?? {};
    const left = [spec?.unschedulable, metadata?.annotations?.["foresail/removal"]];
    assert.deepEqual(left, [undefined, undefined]);
    want(stay);
    await fixture.stack.up();
    assert.deepEqual(Object.keys(await nodes()), stay);
  });

  it("removes a dead worker that is listed as lost, without connecting to it", async () => {
    want(["cp-2", "cp-3", "cp-4", "w-1", "w-3"]);
    await fixture.stack.up();
    fixture.fleet.powerOff("w-3");
    want(["cp-2", "cp-3", "cp-4", "w-1"], { lost: ["w-3"] });
    assert.deepEqual(stepsOf(await fixture.stack.preview(), "test-workers"), ["w-3: lost, delete its Node"]);
    await fixture.stack.up();
    assert.deepEqual(Object.keys(await nodes()), ["cp-2", "cp-3", "cp-4", "w-1"]);
  });

  it("removes a pool with a dead machine that is listed as lost in the same edit, and lists its steps", async () => {
    const stay = ["cp-2", "cp-3", "cp-4", "w-1"];
    const pool = ["w-4", "w-5"].map((name) => ({ name, pool: "gpu" }));
    want([...stay, ...pool], { lost: ["w-3"] });
    await fixture.stack.up();
    assert.deepEqual(Object.keys(await nodes()), [...stay, "w-4", "w-5"]);
    fixture.fleet.powerOff("w-4");
    want(stay, { lost: ["w-3"] });
    assert.deepEqual(stepsOf(await fixture.stack.preview(), "test-control-plane"), [
      "w-5: cordon, drain, kubeadm reset, delete its Node (pool gpu is removed)",
      "w-4: cordon, drain, kubeadm reset, delete its Node (pool gpu is removed)",
    ]);
    assert.match(
      fixture.stack.printed,
      /w-4 is not Ready and will be drained, unless others reset it; if its machine is gone, list it under `lost`/,
    );
    want(stay, { lost: ["w-3", "w-4"] });
    assert.deepEqual(stepsOf(await fixture.stack.preview(), "test-control-plane"), [
      "w-5: cordon, drain, kubeadm reset, delete its Node (pool gpu is removed)",
      "w-4: lost, delete its Node, kubeadm reset if it answers (pool gpu is removed)",
    ]);
    await fixture.stack.up();
    assert.match(fixture.stack.printed, /not reset: w-4; run "kubeadm reset" there/);
    assert.deepEqual(Object.keys(await nodes()), stay);
    assert.equal(fixture.fleet.state("w-5").marker, undefined);
    await expectUnchanged();
  });

  it("lists what is left of a pool whose removal failed, and removes it when the dead machine is listed as lost", async () => {
    const stay = ["cp-2", "cp-3", "cp-4", "w-1"];
    want([...stay, { name: "w-6", pool: "gpu" }], { lost: ["w-3"] });
    await fixture.stack.up();
    fixture.fleet.powerOff("w-6");
    want(stay, { lost: ["w-3"] });
    const { exitCode } = await fixture.stack.call(["up", "--yes", "--skip-preview"]);
    assert.notEqual(exitCode, 0);
    assert.deepEqual(stepsOf(await fixture.stack.preview(), "test-control-plane"), [
      "w-6: cordon, drain, kubeadm reset, delete its Node (pool gpu is removed)",
    ]);
    want(stay, { lost: ["w-3", "w-6"] });
    await fixture.stack.up();
    assert.deepEqual(Object.keys(await nodes()), stay);
    want(stay, { lost: ["w-3"] });
    await fixture.stack.up();
    await expectUnchanged();
  });

  it("runs no step on a joined machine for another port, jump host or key", async () => {
    const machines = ["cp-2", "cp-3", "cp-4", "w-1"];
    const lost = ["w-3"];
    const jumpHost = {
      address: "127.0.0.1",
      port: 2222,
      user: "jump",
      hostKey: fixture.fleet.machine("w-2").hostKey,
    };
    const prepares = (steps: PreviewStep[]) => steps.some(({ type }) => type === "command:remote:Command");
    const changes: Record<string, () => void> = {
      port: () => want(["cp-2", "cp-3", "cp-4", { name: "w-1", port: 2222 }], { lost }),
      "jump host": () => want(machines, { lost, ssh: { jumpHost } }),
    };
    for (const [what, change] of Object.entries(changes)) {
      change();
      const preview = await fixture.stack.preview();
      // where nothing answers, nothing says whose machine it is
      const steps = allSteps(preview).filter((step) => !/^w-1: unread: whose /.test(step));
      assert.deepEqual(steps, [], what);
      assert.equal(prepares(preview), false, what);
    }
    want(machines, { lost });
    await fixture.stack.setSecret("sshPrivateKey", newKey().private);
    const preview = await fixture.stack.preview();
    await fixture.stack.setSecret("sshPrivateKey", fixture.fleet.privateKey);
    assert.deepEqual(allSteps(preview), []);
    assert.equal(prepares(preview), false);
  });

  it("did each operation once on each machine", () => {
    assert.deepEqual(doneTwice(fixture.fleet.journal, PREPARED_ONCE), []);
    assert.deepEqual(
      fixture.fleet.journal.filter(({ outcome }) => !["done", "nothing to do"].includes(String(outcome))),
      [],
    );
  });

  it("destroys all of it with a machine dead, and says which was not reset", async () => {
    fixture.fleet.powerOff("cp-3");
    const { stdout } = await fixture.stack.destroy();
    assert.match(stdout, /not reset: cp-3; run "kubeadm reset" there/);
    const markers = ["cp-2", "cp-4", "w-1"].map((name) => fixture.fleet.state(name).marker);
    assert.deepEqual(markers, [undefined, undefined, undefined]);
    assert.deepEqual((await fixture.stack.export()).deployment.resources ?? [], []);
  });
});
