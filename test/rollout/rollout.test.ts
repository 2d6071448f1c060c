import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import type { Node } from "../../lib/kubernetes";
import { DEFAULT_LOOPBACK_PORT } from "../../providers/kubeadm/plan/endpoint/loopback-port";
import { containerNodeSettings } from "../../sandbox/nodes";
import { sandboxFolder } from "../../sandbox/paths";
import { AUDITED, auditedChanges, type NodeChange } from "../cluster/audit-log";
import { awaitNode } from "../cluster/await-node";
import {
  assertReconfigured,
  CONFIGURATION_KEY,
  expectedSteps,
  reconfigured,
} from "../cluster/configuration-change";
import { killUpWhen } from "../cluster/killed-engine";
import { assertPreviewedDiff, diffLines, managedFiles } from "../cluster/previewed-diff";
import { assertKubeadmAccepts } from "../cluster/kubeadm-suite";
import { etcdAt } from "../cluster/etcd";
import { readyNodes } from "../cluster/reachability";
import { describeCount, RequestCounter } from "../cluster/request-counter";
import { makeServing } from "../cluster/serving-deployment";
import { TestCluster } from "../cluster/test-cluster";
import { traces } from "../cluster/traces";
import { leaveOut } from "../left-out";
import { oneAfterTheOther } from "../one-after-the-other";
import { nodeRolloutSteps } from "../../providers/kubeadm/plan/steps";
import { stepsOfKind } from "../support/steps";

const FROM = "1.36.3";
const TO = "1.37.2";
const KIND = { system: "debian-13", containerd: "2.4" } as const;
const CONTROL_PLANES = ["cp-1", "cp-2", "cp-3"];
const MACHINES = [...CONTROL_PLANES, "w-1", "w-2"];
const KEY = {
  allowed: "alpha.node.caos.ch/changes-allowed",
  ready: "alpha.node.caos.ch/ready",
  desired: "alpha.kubelet.caos.ch/desired-version",
};
const READYZ = `https://127.0.0.1:${DEFAULT_LOOPBACK_PORT}/readyz`;
const STEP_SECONDS = 600;
const BY_NIGHT = process.env.FORESAIL_TEST_ALL === "1";

// for work on these tests: continues with the cluster of the last run, and keeps it
const KEEP = process.env.FORESAIL_TEST_KEEP === "1";

describe(`a rollout from ${FROM} to ${TO} on real nodes of ${KIND.system} with containerd ${KIND.containerd}`, function () {
  this.timeout(2_100_000);
  let cluster: TestCluster;
  let counters: RequestCounter[];
  let listed: string[];

  const fields = {
    ...AUDITED,
    source: { bundle: { path: "/opt/foresail/bundle/v{version}" } },
  };

  before(async () => {
    cluster = await TestCluster.open("rollout", { keep: KEEP, versions: [FROM, TO], kind: KIND });
  });

  oneAfterTheOther(KEEP);

  after(async () => {
    if (KEEP) await writeFile(path.join(sandboxFolder, "rollout-output.txt"), cluster.output);
    else await cluster.remove();
  });

  it(`begins with three control planes and two workers of ${FROM}, whose agents are initialized`, async () => {
    await cluster.configure({ machines: MACHINES, fields: { ...fields, version: FROM } });
    await cluster.up();
    assert.deepEqual(
      await versions(),
      MACHINES.map((name) => `${name} v${FROM}`),
    );
    for (const machine of MACHINES) {
      await cluster.onMachine(machine, "systemctl is-active foresail-node-agent");
      await cluster.onMachine(machine, "test -e /var/lib/foresail/agent/initialized");
      await awaitNode(cluster, machine, {
        what: `the agent of ${machine}`,
        seconds: STEP_SECONDS,
        decide: ({ metadata }) =>
          metadata?.annotations?.[KEY.ready] === "true" ? undefined : "it has not reported",
      });
    }
    assert.deepEqual((await cluster.preview()).changes, []);
  });

  it("lets no machine open a change window with its kubelet's credentials, not even its own", async () => {
    const kubectl = "kubectl --kubeconfig /etc/kubernetes/kubelet.conf";
    for (const [node, refusal] of [
      ["w-1", /ValidatingAdmissionPolicy 'foresail-node-annotations' .* denied request/],
      ["cp-1", /cannot (get|read)|is not allowed/],
    ] as const) {
      // its cache would be a trace on the machine
      const write = `export KUBECACHEDIR=$(mktemp -d); ${kubectl} annotate --overwrite node ${node} ${KEY.allowed}=true 2>&1 || true; rm -r "$KUBECACHEDIR"`;
      assert.match(await cluster.onMachine("w-1", write), refusal);
    }
  });

  it("lists what it will do to each node, in order, and changes nothing", async () => {
    await cluster.configure({ machines: MACHINES, fields: { ...fields, version: TO } });
    listed = (await cluster.preview()).steps["rollout-rollout"] ?? [];
    assert.deepEqual(
      stepsOfKind(nodeRolloutSteps, "upgrade", listed).map(({ machine, from, to, how }) => [
        machine,
        from,
        to,
        how,
      ]),
      MACHINES.map((name) => [
        name,
        FROM,
        TO,
        name === "cp-1" ? "kubeadm upgrade apply" : "kubeadm upgrade node",
      ]),
    );
    assert.equal(listed.length, MACHINES.length);
    assert.deepEqual(
      await versions(),
      MACHINES.map((name) => `${name} v${FROM}`),
    );
  });

  it("is killed while the first control plane is upgraded, and then lists what is left", async () => {
    const url = await cluster.withApi((client) => makeServing(client, { name: "served", replicas: 3 }));
    counters = [
      await RequestCounter.start(cluster, "cp-1", { name: "service", url }),
      await RequestCounter.start(cluster, "w-2", { name: "service", url }),
      await RequestCounter.start(cluster, "w-1", { name: "readyz", url: READYZ }),
    ];
    await killUpWhen(
      cluster,
      "cp-1",
      "the desired version of cp-1",
      (annotations) => annotations[KEY.desired] === `v${TO}`,
      STEP_SECONDS,
    );
    const left = (await cluster.preview()).steps["rollout-rollout"] ?? [];
    assert.equal(left.length, MACHINES.length);
    assert.equal(stepsOfKind(nodeRolloutSteps, "upgrade", left)[0]?.machine, "cp-1");
    assert.deepEqual(left.slice(1), listed.slice(1));
  });

  it("completes with the next `up`, with an agent killed on the way", async () => {
    const killed = awaitNode(cluster, "w-1", {
      what: "the agent of w-1 to begin",
      // all control planes precede it
      seconds: CONTROL_PLANES.length * STEP_SECONDS,
      decide: ({ metadata }) => (metadata?.annotations?.[KEY.ready] === "false" ? undefined : "not yet"),
    }).then(() => cluster.onMachine("w-1", "systemctl kill --signal=KILL foresail-node-agent"));
    const rollout = cluster.up();
    // the cleanup after a failure must find no run in progress
    await Promise.all([rollout, killed]).finally(() => rollout.catch(() => undefined));
    assert.deepEqual(
      await versions(),
      MACHINES.map((name) => `${name} v${TO}`),
    );
    assert.deepEqual(await readyNodes(cluster), MACHINES);
    assert.deepEqual(await etcdAt(cluster, "cp-1"), { members: CONTROL_PLANES, healthy: true });
    for (const node of await nodes()) {
      assert.equal(node.metadata?.annotations?.[KEY.allowed], "false", node.metadata?.name);
      assert.equal(node.metadata?.annotations?.[KEY.ready], "true", node.metadata?.name);
      assert.equal(node.spec?.unschedulable, undefined, node.metadata?.name);
    }
  });

  it("lost no request to a workload with a budget, and its API server was never away for long", async () => {
    const [one, other, readyz] = await Promise.all(counters.map((counter) => counter.stop()));
    assert.ok(one && other && readyz);
    console.log(`      ${describeCount("Service from cp-1", one)}`);
    console.log(`      ${describeCount("Service from w-2", other)}`);
    console.log(`      ${describeCount("/readyz through the endpoint of w-1", readyz)}`);
    assert.ok(one.answered > 1000 && other.answered > 1000);
    assert.deepEqual([one.lost, other.lost], [[], []]);
    assert.ok(readyz.longestGap < 30_000, `${readyz.longestGap} ms`);
  });

  it("did what the preview had listed, and no more, as the API servers saw it", async () => {
    const changes = await auditedChanges(cluster, CONTROL_PLANES);
    const opened = rolled(changes, ({ annotations }) => annotations[KEY.allowed] === "true");
    const wanted = rolled(changes, ({ annotations }) => annotations[KEY.desired] === `v${TO}`);
    assert.deepEqual(opened, MACHINES);
    assert.deepEqual(wanted, MACHINES);
    for (const machine of MACHINES) assertProtocol(changes.filter(({ node }) => node === machine));
    const journals = await Promise.all(
      MACHINES.map((machine) =>
        cluster.onMachine(machine, "journalctl --unit foresail-node-agent --output cat --no-pager"),
      ),
    );
    const applied = MACHINES.filter((_machine, index) => /kubeadm upgrade apply/.test(journals[index] ?? ""));
    assert.deepEqual(applied, ["cp-1"]);
  });

  it("wrote each step into the cluster's history and as an Event of the Node", async () => {
    await cluster.withApi(async (client) => {
      const history = await client.get<{ data?: Record<string, string> }>({
        apiVersion: "v1",
        kind: "ConfigMap",
        namespace: "kube-system",
        name: "foresail-history",
      });
      const lines = (history?.data?.["history"] ?? "").split("\n").filter((line) => line !== "");
      for (const line of lines) console.log(`      ${line}`);
      const done = lines.flatMap((line) => {
        const [, machine, from, to] = / (\S+) (\S+) → (\S+) \(.*\): done, \d+ s$/.exec(line) ?? [];
        return machine !== undefined && from === FROM && to === TO ? [machine] : [];
      });
      assert.deepEqual(done, MACHINES);
      const events = await client.list<{ reason?: string; involvedObject?: { name?: string } }>({
        apiVersion: "v1",
        kind: "Event",
        fieldSelector: "involvedObject.kind=Node,reason=RolloutFinished",
      });
      // an Event is sent once: while an API server restarts, it can get lost
      const told = events.map(({ involvedObject }) => involvedObject?.name);
      for (const worker of ["w-1", "w-2"]) assert.ok(told.includes(worker), told.join());
    });
  });

  it(`is accepted by kubeadm's own tests of ${TO}`, () => assertKubeadmAccepts(cluster, TO));

  it("leaves nothing to do for a second `up`", async () => {
    assert.deepEqual((await cluster.preview()).changes, []);
    assert.match(await cluster.up(), /Resources:\n\s+\d+ unchanged\n/);
  });

  it("lists another configuration on every node, is killed while the first control plane gets it, and resumes", async function () {
    if (!BY_NIGHT)
      leaveOut(
        this,
        "e2e/adopted.test.ts rolls a configuration out by default; FORESAIL_TEST_ALL=1 does so here",
      );
    const { kubelet } = containerNodeSettings;
    await cluster.configure({
      machines: MACHINES,
      fields: reconfigured({ ...fields, version: TO }, kubelet),
    });
    const before = await managedFiles(cluster, MACHINES);
    const preview = await cluster.preview();
    const diff = diffLines(preview.notes);
    for (const line of diff) console.log(`      ${line}`);
    const steps = preview.steps["rollout-rollout"] ?? [];
    const lines = expectedSteps(MACHINES, { drained: true, further: ["etcd", "certificate"] });
    lines.forEach((line, index) => assert.match(steps[index] ?? "", line));
    assert.equal(steps.length, MACHINES.length);
    assert.equal(preview.steps["rollout-node-agents"]?.length, MACHINES.length);
    const counter = await RequestCounter.start(cluster, "w-1", { name: "configuration", url: READYZ });
    await killUpWhen(
      cluster,
      "cp-1",
      "the configuration of cp-1",
      (annotations) => annotations[CONFIGURATION_KEY] !== undefined,
      STEP_SECONDS,
    );
    const left = (await cluster.preview()).steps["rollout-rollout"] ?? [];
    const after = steps.slice(steps.findIndex((line) => line.startsWith("cp-1:")) + 1);
    assert.deepEqual(left.slice(left.length - after.length), after);
    await cluster.up();
    const count = await counter.stop();
    console.log(`      ${describeCount("/readyz through the endpoint of w-1", count)}`);
    assert.ok(count.longestGap < 30_000, `${count.longestGap} ms`);
    assertPreviewedDiff(diff, before, await managedFiles(cluster, MACHINES));
    await assertReconfigured(cluster, MACHINES, await nodes());
    assert.deepEqual(await readyNodes(cluster), MACHINES);
    assert.deepEqual((await cluster.preview()).changes, []);
  });

  it("resets its machines on destroy, and removes the backups that kubeadm made of etcd", async () => {
    const backups = "find /etc/kubernetes/tmp -path '*etcd*' -name db | wc -l";
    assert.notEqual(await cluster.onMachine("cp-1", backups), "0\n");
    await cluster.destroy();
    for (const machine of MACHINES) assert.deepEqual(await traces(cluster, machine), [], machine);
  });

  it("accepts the same machines again, and one with only the backups that an earlier release left", async function () {
    if (!BY_NIGHT) leaveOut(this, "it creates another cluster: FORESAIL_TEST_ALL=1");
    await cluster.onMachine(
      "w-1",
      "cd /etc/kubernetes; mkdir -p tmp/old; touch tmp/old/db; touch --date=-1hour tmp/old/db tmp/old tmp",
    );
    await cluster.configure({ machines: ["cp-1", "w-1"], fields: { ...fields, version: TO } });
    await cluster.up();
    assert.deepEqual(await readyNodes(cluster), ["cp-1", "w-1"]);
    await cluster.destroy();
    assert.deepEqual(await traces(cluster, "w-1"), []);
  });

  async function nodes(): Promise<Node[]> {
    return cluster.withApi((client) => client.listNodes());
  }

  async function versions(): Promise<string[]> {
    return (await nodes())
      .map(({ metadata, status }) => `${metadata?.name} ${status?.nodeInfo?.kubeletVersion}`)
      .sort();
  }
});

/** The nodes to which something happened, in the order of its first time. */
function rolled(changes: readonly NodeChange[], happened: (change: NodeChange) => boolean): string[] {
  return [...new Set(changes.filter(happened).map(({ node }) => node))];
}

/** The window opens, the node is cordoned, the version is written, the node is uncordoned, the window closes. */
function assertProtocol(changes: readonly NodeChange[]): void {
  const ours = changes.filter(({ userAgent }) => userAgent.startsWith("foresail/"));
  const first = (found: (change: NodeChange) => boolean) => ours.findIndex(found);
  const last = (found: (change: NodeChange) => boolean) => ours.findLastIndex(found);
  const order = [
    first(({ annotations }) => annotations[KEY.allowed] === "true"),
    first(({ unschedulable }) => unschedulable === true),
    first(({ annotations }) => annotations[KEY.desired] === `v${TO}`),
    last(({ unschedulable }) => unschedulable === null),
    last(({ annotations }) => annotations[KEY.allowed] === "false"),
  ];
  assert.ok(!order.includes(-1), JSON.stringify(ours));
  assert.deepEqual(
    order,
    [...order].sort((one, other) => one - other),
    JSON.stringify(ours),
  );
  const node = changes[0]?.node ?? "";
  const agent = changes.filter(({ user }) => user === `system:node:${node}`);
  const told = agent.flatMap(({ annotations }) => annotations[KEY.ready] ?? []);
  const end = told.slice(told.lastIndexOf("false")).join();
  // the API server next to an agent stops while it responds, before it has logged the last change
  const isWhole = end === "false,true" || (CONTROL_PLANES.includes(node) && end === "false");
  assert.ok(isWhole, `${node}: ${told.join()}`);
}
