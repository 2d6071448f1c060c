import assert from "node:assert/strict";
import { run } from "../../sandbox/nodes/command";
import { gatherStatus } from "../../sandbox/status";
import { KUBERNETES_VERSION } from "../../sandbox/systems/ssh-configuration";
import { sshSystem } from "../../sandbox/systems/ssh";
import { etcdAt, storedBytes } from "../cluster/etcd";
import { lowestAvailable, makeGuarded, NAMESPACE, removeGuarded } from "../cluster/guarded-deployment";
import { askFromPod, askOverContext, awaitNotReady, readyNodes } from "../cluster/reachability";
import { assertKubeadmAccepts } from "../cluster/kubeadm-suite";
import { assertEndpointNeedsNoCheck } from "../cluster/loopback-endpoint";
import { leftOnEngine, traces } from "../cluster/traces";
import { assertWayBack } from "../cluster/recovery/change";
import { FAILING_CHANGES } from "../cluster/recovery/changes";
import { sampleProcesses } from "../cluster/process-samples";
import { announcedOperations } from "../cluster/previewed-steps";
import { unreadSecrets } from "../cluster/secret-reads";
import { clusterSecrets, findSecrets } from "../cluster/secret-search";
import { changingOperations, overlaps, since, stepRuns } from "../cluster/step-logs";
import { assertDriftIsRepaired } from "../cluster/drifted-files";
import { TestCluster } from "../cluster/test-cluster";
import { withoutPreparation } from "../support/steps";
import { leaveOut } from "../left-out";
import { oneAfterTheOther } from "../one-after-the-other";

// for work on these tests: continues with the cluster of the last run, and keeps it
const KEEP = process.env.FORESAIL_TEST_KEEP === "1";

const ONE_AND_ONE = ["cp-1", "w-1"];
const PLAIN = "plain-words-that-must-stay-secret";
const WORD = Buffer.from(PLAIN).toString("base64");
const READ_WORD = ["get", "secret", "words", "--output", "jsonpath={.data.words}"];
const THREE_AND_TWO = ["cp-1", "cp-2", "cp-3", "w-1", "w-2"];
const WITHOUT_FIRST = ["cp-2", "cp-3", "cp-4", "w-1", "w-2"];
const WITHOUT_WORKER = ["cp-2", "cp-3", "cp-4", "w-1"];
const BY_NIGHT = process.env.FORESAIL_TEST_ALL === "1";
const ROTATED = { encryptionKeyGeneration: 2 };
const BACK_AGAIN = ["cp-1", "cp-2", "cp-3", "w-1"];
/** With what the last tests begin. */
const REMAINING = BY_NIGHT ? BACK_AGAIN : WITHOUT_WORKER;

describe("a cluster of system ssh on real nodes", function () {
  let cluster: TestCluster;
  let commandLines = new Set<string>();

  before(async () => {
    cluster = await TestCluster.open("e2e", { keep: KEEP });
  });

  oneAfterTheOther(KEEP);

  after(async () => {
    if (!KEEP) await cluster.remove();
  });

  it("comes up in one `pulumi up`: nodes are Ready, a Deployment answers through its Service, kubeadm accepts it", async () => {
    await cluster.configure({ machines: ONE_AND_ONE });
    await cluster.up();
    await cluster.check(ONE_AND_ONE);
    await assertKubeadmAccepts(cluster, KUBERNETES_VERSION);
  });

  it("is not changed by a second `up`, neither in the engine nor on a node", async () => {
    const before = await stepRuns(cluster, ONE_AND_ONE);
    assert.deepEqual((await cluster.preview()).changes, []);
    assert.match(await cluster.up(), /Resources:\n\s+\d+ unchanged\n/);
    assert.deepEqual(since(before, await stepRuns(cluster, ONE_AND_ONE)), []);
  });

  it("reaches its API servers from every node, whatever the checks of haproxy say", () =>
    assertEndpointNeedsNoCheck(cluster, "w-1"));

  // by night, recovery.test.ts makes all of them
  for (const change of BY_NIGHT ? [] : FAILING_CHANGES.filter(({ byDay }) => byDay))
    it(`reports ${change.name} soon, and goes back when it is taken back`, async () => {
      const machines = { all: ONE_AND_ONE, controlPlane: "cp-1", worker: "w-1", spare: "w-2" };
      await assertWayBack(cluster, { machines: ONE_AND_ONE }, machines, change);
    });

  it("refuses a machine with a cluster that foresail did not create", async () => {
    await cluster.configure({ machines: [...ONE_AND_ONE, "w-2"] });
    const foreign = "/etc/kubernetes/kubelet.conf";
    await cluster.onMachine("w-2", `mkdir -p /etc/kubernetes; echo someone else > ${foreign}`);
    const files =
      "find /etc/kubernetes /etc/systemd /usr/local /var/lib/etcd /var/lib/kubelet -type f | sort";
    const before = await cluster.onMachine("w-2", files);
    const output = await cluster.failingUp();
    assert.match(output, /w-2: \/etc\/kubernetes contains files that foresail did not create/);
    assert.equal(await cluster.onMachine("w-2", files), before);
    assert.equal(await cluster.onMachine("w-2", `cat ${foreign}; rm ${foreign}`), "someone else\n");
    assert.deepEqual(await readyNodes(cluster), ONE_AND_ONE);
  });

  it("grows to three control planes and two workers in one `up`, by the steps that the preview listed", async () => {
    await cluster.configure({ machines: THREE_AND_TWO });
    const before = await stepRuns(cluster, THREE_AND_TWO);
    const preview = await cluster.preview();
    assert.deepEqual(Object.keys(preview.steps).sort(), [
      "e2e-control-plane",
      "e2e-endpoint",
      "e2e-node-agents",
      "e2e-owner",
      "e2e-workers",
    ]);
    const sampled = await sampleProcesses(cluster.up());
    commandLines = sampled.commandLines;
    const runs = since(before, await stepRuns(cluster, THREE_AND_TWO));
    assert.deepEqual(changingOperations(runs), announcedOperations(preview));
    assert.deepEqual(overlaps(runs), []);
    assert.deepEqual(await readyNodes(cluster), THREE_AND_TWO);
    assert.deepEqual(await etcdAt(cluster, "cp-3"), { members: ["cp-1", "cp-2", "cp-3"], healthy: true });
    await cluster.check(THREE_AND_TWO);
    assert.deepEqual((await cluster.preview()).changes, []);
    await assertKubeadmAccepts(cluster, KUBERNETES_VERSION);
  });

  it("reports its nodes' roles, versions and states as JSON", async () => {
    const { file } = await cluster.kubeconfig();
    const nodes = THREE_AND_TWO.map((name) => ({
      name,
      role: name.startsWith("cp") ? "control-plane" : "worker",
    }));
    const system = {
      ...sshSystem,
      name: "e2e",
      clusters: () => Promise.resolve([{ name: "e2e", kubeconfig: file, nodes }]),
    };
    const status = await gatherStatus([system], "");
    assert.deepEqual(
      status.clusters.map(({ name, stack, kubeconfig }) => ({ name, stack, kubeconfig })),
      [{ name: "e2e", stack: cluster.stack, kubeconfig: file }],
    );
    assert.deepEqual(
      status.clusters[0]?.nodes,
      nodes.map((node) => ({ ...node, version: `v${KUBERNETES_VERSION}`, status: "Ready" })),
    );
  });

  it("stores no Secret in plain text in etcd", async () => {
    await cluster.withApi((client) =>
      client.apply(
        {
          apiVersion: "v1",
          kind: "Secret",
          metadata: { name: "words", namespace: "default" },
          stringData: { words: PLAIN },
        },
        { force: true },
      ),
    );
    // the same key on every control plane: what one wrote, another's API server reads
    const stored = await storedBytes(cluster, "cp-3", "/registry/secrets/default/words");
    assert.match(stored, /^k8s:enc:secretbox:v1:/);
    assert.ok(!stored.includes(PLAIN));
    for (const name of ["cp-1", "cp-2", "cp-3"]) {
      assert.equal(await askOverContext(cluster, name, READ_WORD), WORD);
    }
  });

  it("leaves no token, key or certificate in state, logs, journals and process lists", async () => {
    const known = await clusterSecrets(cluster, "cp-1");
    assert.ok(known.size >= 7, `only ${[...known.keys()].join(", ")} were read`);
    const texts = [
      { where: "the exported state", text: await cluster.exportedState() },
      { where: "the engine's output", text: cluster.output },
      { where: "process lists during `up`", text: [...commandLines].join("\n") },
    ];
    for (const machine of THREE_AND_TWO) {
      const read = "cat /var/log/foresail/*; journalctl --no-pager --quiet";
      texts.push({ where: `logs and journal of ${machine}`, text: await cluster.onMachine(machine, read) });
    }
    assert.ok(commandLines.size > 50);
    assert.deepEqual(findSecrets(texts, known), []);
  });

  it("serves pods, kubelets and the operator when the first control plane loses power", async () => {
    // the check's own pods came before the second worker did
    await cluster.withApi((client) =>
      makeGuarded(client, { name: "asker", replicas: 1, minAvailable: 0, preferred: "w-2" }),
    );
    await cluster.fleet.kill("cp-1");
    const alive = THREE_AND_TWO.filter((name) => name !== "cp-1");
    await awaitNotReady(cluster, "cp-1");
    // no `up` yet: another context of the kubeconfig
    assert.match(await askOverContext(cluster, "cp-2", ["get", "nodes"]), /cp-3 +Ready/);
    for (const machine of ["w-1", "w-2"]) await askFromPod(cluster, machine);
    assert.deepEqual(await readyNodes(cluster), alive);
    await cluster.up();
    const { text } = await cluster.kubeconfig();
    assert.match(text, /^current-context: e2e-cp-[23]$/m);
    assert.match(await askOverContext(cluster, undefined, ["get", "nodes"]), /cp-1 +NotReady/);
  });

  it("joins no control plane beside a dead one that is not listed as lost, and says what to do", async () => {
    await cluster.configure({ machines: WITHOUT_FIRST });
    const output = await cluster.failingUp();
    assert.match(output, /cp-4 can't join while etcd's member cp-1 does not answer/);
  });

  it("removes the dead first control plane and adds another in one `up`", async () => {
    await cluster.configure({ machines: WITHOUT_FIRST, lost: ["cp-1"] });
    const preview = await cluster.preview();
    const steps = withoutPreparation(preview.steps["e2e-control-plane"]);
    const lines = steps.map((line) => line.split(",")[0]);
    assert.deepEqual(lines, [
      "cp-1: lost",
      "cp-4: join as control plane unless it is one",
      "cluster DNS: move its pods apart if all of them are on one node",
    ]);
    await cluster.up();
    assert.deepEqual(await etcdAt(cluster, "cp-4"), { members: ["cp-2", "cp-3", "cp-4"], healthy: true });
    assert.deepEqual(await readyNodes(cluster), WITHOUT_FIRST);
    await cluster.check(WITHOUT_FIRST);
    assert.deepEqual((await cluster.preview()).changes, []);
  });

  it("keeps a worker whose pod a budget never allows to evict, and names both", async function () {
    if (!BY_NIGHT) leaveOut(this, "simulation.test.ts does so on a bare API server: FORESAIL_TEST_ALL=1");
    await cluster.withApi((client) =>
      makeGuarded(client, { name: "stuck", replicas: 1, minAvailable: 1, preferred: "w-2" }),
    );
    const before = await stepRuns(cluster, WITHOUT_FIRST);
    await cluster.configure({ machines: WITHOUT_WORKER, fields: { drain: { timeoutSeconds: 10 } } });
    const output = await cluster.failingUp();
    assert.match(output, new RegExp(`${NAMESPACE}/stuck-\\S+ held: .*disruption budget stuck`));
    assert.deepEqual(changingOperations(since(before, await stepRuns(cluster, WITHOUT_FIRST))), []);
    assert.deepEqual(await readyNodes(cluster), WITHOUT_FIRST);
  });

  it("removes the worker when the budget allows it, and never violates a budget", async () => {
    await cluster.withApi(async (client) => {
      await removeGuarded(client, "stuck");
      await askOverContext(cluster, undefined, ["uncordon", "w-2"]);
      await makeGuarded(client, { name: "guarded", replicas: 2, minAvailable: 1, preferred: "w-2" });
      await cluster.configure({ machines: WITHOUT_WORKER });
      const lowest = await lowestAvailable(client, "guarded", cluster.up());
      assert.ok(lowest >= 1, `${lowest} of 2 replicas were available`);
    });
    assert.match(cluster.output, /guarded-\S+ held: .*disruption budget/);
    assert.deepEqual(await traces(cluster, "w-2"), []);
    assert.deepEqual(await readyNodes(cluster), WITHOUT_WORKER);
    await cluster.check(WITHOUT_WORKER);
  });

  it("accepts a machine with an old name and an empty disk, and removes a healthy control plane", async function () {
    if (!BY_NIGHT) leaveOut(this, "engine/life.test.ts replaces control planes: FORESAIL_TEST_ALL=1");
    await cluster.fleet.delete("cp-1");
    await cluster.configure({ machines: BACK_AGAIN });
    await cluster.up();
    assert.deepEqual(await etcdAt(cluster, "cp-1"), { members: ["cp-1", "cp-2", "cp-3"], healthy: true });
    assert.deepEqual(await traces(cluster, "cp-4"), []);
    await cluster.check(BACK_AGAIN);
  });

  it("rotates the encryption key on every control plane, while each of them can read every Secret", async function () {
    if (!BY_NIGHT)
      leaveOut(
        this,
        "nine restarts of API servers; engine/key-rotation.test.ts rotates on simulated machines",
      );
    const planes = ["cp-1", "cp-2", "cp-3"];
    const keysOn = (machine: string) =>
      cluster.onMachine(machine, "sed -n 's/^ *- name: //p' /etc/kubernetes/foresail/encryption.yaml");
    const storedWord = () => storedBytes(cluster, "cp-2", "/registry/secrets/default/words");
    await cluster.configure({ machines: BACK_AGAIN, fields: ROTATED });
    const preview = await cluster.preview();
    assert.equal(preview.steps["e2e-encryption-key"]?.length, 3 * planes.length + 1);
    assert.match(await storedWord(), /^k8s:enc:secretbox:v1:foresail-1:/);
    const before = await stepRuns(cluster, planes);
    const unread = await unreadSecrets(cluster, planes, () => cluster.up());
    assert.deepEqual(unread, []);
    assert.match(await storedWord(), /^k8s:enc:secretbox:v1:foresail-2:/);
    for (const name of planes) {
      assert.equal(await keysOn(name), "foresail-2\n", name);
      assert.equal(await askOverContext(cluster, name, READ_WORD), WORD);
    }
    const runs = since(before, await stepRuns(cluster, planes));
    assert.deepEqual(changingOperations(runs), announcedOperations(preview));
    assert.deepEqual(overlaps(runs), []);
    assert.deepEqual((await cluster.preview()).changes, []);
    const known = await clusterSecrets(cluster, "cp-1");
    const texts = [
      { where: "the exported state", text: await cluster.exportedState() },
      { where: "the engine's output", text: cluster.output },
      ...(await Promise.all(
        planes.map(async (machine) => ({
          where: `logs of ${machine}`,
          text: await cluster.onMachine(machine, "cat /var/log/foresail/*"),
        })),
      )),
    ];
    assert.deepEqual(findSecrets(texts, known), []);
    await cluster.check(BACK_AGAIN);
  });

  it("shows what was changed by hand on its machines, and repairs what is not accepted", async () => {
    const desired = { machines: REMAINING, ...(BY_NIGHT ? { fields: ROTATED } : {}) };
    await assertDriftIsRepaired(cluster, desired, { controlPlane: "cp-2", worker: "w-1" });
  });

  it("refuses to remove a majority of its control planes in one `up`", async () => {
    await cluster.configure({ machines: [REMAINING[0]!, "w-1"], ...(BY_NIGHT ? { fields: ROTATED } : {}) });
    assert.match(await cluster.failingUp(), /a majority of the 3 control planes/);
    assert.deepEqual(await readyNodes(cluster), REMAINING);
  });

  it("resets its machines on destroy, which completes with one of them dead and names it", async () => {
    // the refused `up` before this has two control planes on record as no longer configured: they are reset all the same
    await cluster.fleet.kill("w-1");
    const output = await cluster.destroy();
    assert.match(output, /not reset: w-1;/);
    for (const machine of REMAINING.slice(0, 3))
      assert.deepEqual(await traces(cluster, machine), [], machine);
    const running = ["cp-2", "cp-3", "cp-4", "w-2"];
    assert.deepEqual(await cluster.running(), BY_NIGHT ? ["cp-1", ...running] : running);
  });

  it("leaves no container, volume or network when its machines are deleted", async () => {
    await cluster.fleet.deleteAll();
    assert.deepEqual(await leftOnEngine("e2e"), []);
  });

  it("answers `status --json` as JSON on the command line", async () => {
    const answer = await run(process.execPath, [require.resolve("../../sandbox/cli.js"), "status", "--json"]);
    assert.deepEqual(Object.keys(JSON.parse(answer) as object), ["stacks", "clusters", "environment"]);
  });
});
