import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { containerNodeSettings } from "../../sandbox/nodes";
import { sandboxFolder } from "../../sandbox/paths";
import { assertReleased, CONFIGURATION, draftedStack, TRACES } from "../cluster/adopted-cluster";
import { AUDITED } from "../cluster/audit-log";
import { type Balancer, startBalancer } from "../cluster/balancer";
import { CONFIGURATION_KEY, expectedSteps } from "../cluster/configuration-change";
import { etcdAt } from "../cluster/etcd";
import { killUpWhen } from "../cluster/killed-engine";
import { isMade, makePlainCluster, plainKubeconfig, podBlocks, writePlugins } from "../cluster/plain-cluster";
import { assertPreviewedDiff, diffLines, managedFiles } from "../cluster/previewed-diff";
import { readyNodes } from "../cluster/reachability";
import { describeCount, RequestCounter } from "../cluster/request-counter";
import { makeServing } from "../cluster/serving-deployment";
import { TestCluster } from "../cluster/test-cluster";
import { withApi } from "../cluster/with-api";
import { leaveOut } from "../left-out";
import { oneAfterTheOther } from "../one-after-the-other";

const VERSION = "1.35.4";
const NEXT = "1.36.3";
const CONTROL_PLANES = ["cp-1", "cp-2", "cp-3"];
const MACHINES = [...CONTROL_PLANES, "w-1", "w-2"];
const SCALED = [...MACHINES, "w-3"];
const SOURCE = { bundle: { path: "/opt/foresail/bundle/v{version}" } };
const POD_SUBNET = "10.245.0.0/16";
const STEP_SECONDS = 600;
const roleOf = (machine: string) => (machine.startsWith("cp") ? "control-plane" : "worker");

// for work on these tests: continues with the cluster of the last run, and keeps it
const KEEP = process.env.FORESAIL_TEST_KEEP === "1";

describe("a cluster of three control planes behind a load balancer, that others made", function () {
  this.timeout(2_100_000);
  let cluster: TestCluster;
  let balancer: Balancer;
  let draft: Readonly<Record<string, unknown>> = {};
  let service = "";
  let traces: string[] = [];

  before(async function () {
    if (process.env.FORESAIL_TEST_ALL !== "1" && !KEEP)
      leaveOut(
        this,
        "adopted.test.ts adopts a smaller one by default; FORESAIL_TEST_ALL=1 includes this one",
      );
    cluster = await TestCluster.open("balanced", { keep: KEEP, versions: [VERSION, NEXT] });
  });

  oneAfterTheOther(KEEP);

  after(async () => {
    // absent when the suite is left out
    const opened = cluster as TestCluster | undefined;
    if (KEEP) await writeFile(path.join(sandboxFolder, "balanced-output.txt"), opened?.output ?? "");
    else await opened?.remove();
  });

  const onEach = (machines: readonly string[], script: string) =>
    Promise.all(machines.map((machine) => cluster.onMachine(machine, script)));
  /** Writes what `foresail adopt` wrote, with what only container nodes need, and changed fields. */
  const configure = (machines: readonly string[], fields: Record<string, unknown> = {}) => {
    const { machines: _, ...drafted } = draft;
    const { ignorePreflightErrors } = containerNodeSettings;
    const ofCluster = { kubeadm: undefined, kubelet: undefined, kubeProxy: undefined };
    return cluster.configure({
      machines,
      fields: { ...ofCluster, ...drafted, source: SOURCE, ignorePreflightErrors, ...fields },
    });
  };
  const endpoint = () => `https://${balancer.host}:${balancer.port}/readyz`;
  const ask = (url: string) =>
    cluster.onMachine("w-1", `curl --fail --silent --insecure --max-time 10 ${url}`);
  const assertSettled = async () => {
    assert.deepEqual((await cluster.preview()).changes, []);
    assert.deepEqual(await readyNodes(cluster), SCALED);
    assert.deepEqual(await etcdAt(cluster, "cp-1"), { members: CONTROL_PLANES, healthy: true });
  };

  it("is described by `foresail adopt`: the load balancer, all machines, and what the stack file can't say", async () => {
    await cluster.configure({ machines: MACHINES });
    balancer = await startBalancer(cluster, "lb-1", CONTROL_PLANES);
    const plain = { controlPlanes: CONTROL_PLANES, workers: ["w-1", "w-2"], podSubnet: POD_SUBNET };
    const others = { endpoint: `${balancer.host}:${balancer.port}`, version: VERSION };
    if (!KEEP || !(await isMade(cluster, "cp-1"))) await makePlainCluster(cluster, { ...plain, ...others });
    const text = await plainKubeconfig(cluster, "cp-1");
    service = await withApi(text, (client) => makeServing(client, { name: "served", replicas: 3 }));
    traces = await onEach(MACHINES, TRACES);
    const drafted = await draftedStack(cluster, text, MACHINES);
    draft = drafted.draft;
    assert.equal(draft.version, VERSION);
    assert.deepEqual(draft.endpoint, { external: { host: balancer.host, port: balancer.port } });
    assert.deepEqual(draft.kubelet, { cgroupDriver: containerNodeSettings.kubelet.cgroupDriver });
    const machines = draft.machines as { name: string; role: string }[];
    assert.deepEqual(
      machines.map(({ name, role }) => `${name} ${role}`),
      MACHINES.map((name) => `${name} ${roleOf(name)}`),
    );
    assert.ok(drafted.said.some((line) => line.includes("network plugin (not recognized): it stays")));
  });

  it("is adopted without a change of Kubernetes on any machine, and a second preview is empty", async () => {
    const before = await onEach(MACHINES, CONFIGURATION);
    await configure(MACHINES);
    const preview = await cluster.preview();
    assert.deepEqual(
      preview.steps["balanced-init"],
      MACHINES.map((name) => {
        const role = roleOf(name).replace("-", " ");
        return `${name}: adopt as ${role} of the cluster at ${balancer.host}:${balancer.port}, Kubernetes ${VERSION}`;
      }),
    );
    assert.equal(preview.steps["balanced-rollout"], undefined);
    await cluster.up();
    assert.deepEqual(await onEach(MACHINES, CONFIGURATION), before);
    assert.deepEqual((await cluster.preview()).changes, []);
    await ask(endpoint());
  });

  it("is scaled by a worker, which joins through the load balancer", async () => {
    await configure(SCALED);
    const previewed = (await cluster.preview()).steps["balanced-workers"] ?? [];
    assert.ok(previewed.includes("w-3: join as worker of workers, wait until Ready"), previewed.join("\n"));
    const blocks = await podBlocks(cluster, "cp-1", MACHINES);
    await writePlugins(cluster, POD_SUBNET, blocks.set("w-3", "10.245.5.0/24"));
    await cluster.up();
    assert.match(
      await cluster.onMachine("w-3", "cat /etc/kubernetes/kubelet.conf"),
      new RegExp(`server: https://${balancer.host}:${balancer.port}`),
    );
    await assertSettled();
  });

  it(`is upgraded to ${NEXT} without a lost request to a Service, while the API answers through the load balancer`, async () => {
    await configure(SCALED, { version: NEXT });
    const listed = (await cluster.preview()).steps["balanced-rollout"] ?? [];
    assert.deepEqual(
      listed.map((line) => line.split(" ").slice(0, 4).join(" ")),
      SCALED.map((name) => `${name} ${VERSION} → ${NEXT}`),
    );
    const api = `https://${balancer.host}:${balancer.port}/version`;
    const counters = [
      await RequestCounter.start(cluster, "cp-1", { name: "upgrade-service", url: service }),
      await RequestCounter.start(cluster, "w-2", { name: "upgrade-service", url: service }),
      await RequestCounter.start(cluster, "w-1", { name: "upgrade-api", url: api }),
    ];
    await cluster.up();
    const counts = await Promise.all(counters.map((counter) => counter.stop()));
    ["Service from cp-1", "Service from w-2", "/version through the load balancer"].forEach((what, index) => {
      const count = counts[index];
      if (count) console.log(`      ${describeCount(what, count)}`);
    });
    const versions = await cluster.withApi(async (client) =>
      (await client.listNodes()).map(({ metadata, status }) => {
        const { kubeletVersion } = (status?.nodeInfo ?? {}) as { kubeletVersion?: string };
        return `${metadata?.name} ${kubeletVersion}`;
      }),
    );
    assert.deepEqual(
      versions.sort(),
      SCALED.map((name) => `${name} v${NEXT}`),
    );
    const [one, other, throughBalancer] = counts;
    assert.ok(one && other && throughBalancer && counts.every(({ answered }) => answered > 1000));
    assert.deepEqual([one.lost, other.lost], [[], []]);
    // an API server of kubeadm ends at once, with the connections that the load balancer has just given to it
    assert.ok(throughBalancer.longestGap < 30_000, `${throughBalancer.longestGap} ms`);
    await assertSettled();
  });

  it("turns audit logging on, killed at the second control plane, while the API answers through the load balancer", async () => {
    await configure(SCALED, { ...AUDITED, version: NEXT });
    const files = await managedFiles(cluster, SCALED);
    const { steps, notes } = await cluster.preview();
    const listed = (steps["balanced-rollout"] ?? []).filter((line) => line.includes(": configuration "));
    expectedSteps(SCALED).forEach((line, index) => assert.match(listed[index] ?? "", line));
    assert.equal(listed.length, SCALED.length);
    const counter = await RequestCounter.start(cluster, "w-1", { name: "configuration", url: endpoint() });
    await killUpWhen(
      cluster,
      "cp-2",
      "the configuration of cp-2",
      (annotations) => annotations[CONFIGURATION_KEY] !== undefined,
      STEP_SECONDS,
    );
    const left = (await cluster.preview()).steps["balanced-rollout"] ?? [];
    assert.ok(!left.some((line) => line.startsWith("cp-1: configuration ")), left.join("\n"));
    const after = listed.slice(listed.findIndex((line) => line.startsWith("cp-2:")) + 1);
    assert.deepEqual(left.slice(left.length - after.length), after);
    await cluster.up();
    assertPreviewedDiff(diffLines(notes), files, await managedFiles(cluster, SCALED));
    const count = await counter.stop();
    console.log(`      ${describeCount("/readyz through the load balancer", count)}`);
    assert.ok(count.longestGap < 30_000, `${count.longestGap} ms`);
    for (const machine of CONTROL_PLANES) {
      const running = await cluster.onMachine(machine, "tr '\\0' ' ' </proc/$(pidof kube-apiserver)/cmdline");
      assert.match(running, / --audit-policy-file=/, machine);
      assert.match(await cluster.onMachine(machine, "wc -l </var/log/kubernetes/audit.log"), /^[1-9]/);
    }
    await assertSettled();
  });

  it("is hardened by a profile: files and modes become what the preview's diff shows, and files what they were without it", async () => {
    const fields = { ...AUDITED, version: NEXT };
    const assertDiff = async () => {
      const files = await managedFiles(cluster, SCALED);
      const lines = diffLines((await cluster.preview()).notes);
      await cluster.up();
      assertPreviewedDiff(lines, files, await managedFiles(cluster, SCALED));
      await assertSettled();
      return lines;
    };
    const before = await onEach(MACHINES, CONFIGURATION);
    await configure(SCALED, { ...fields, profile: "cis" });
    const lines = await assertDiff();
    for (const line of ["--- /etc/kubernetes/pki/ca.crt", "mode 644 root:root → 600 root:root"])
      assert.ok(lines.includes(line), lines.join("\n"));
    await configure(SCALED, fields);
    await assertDiff();
    assert.deepEqual(await onEach(MACHINES, CONFIGURATION), before);
  });

  it("is released: it keeps serving through the load balancer, and nothing of foresail is left", async () => {
    const { text } = await cluster.kubeconfig();
    const before = await onEach(MACHINES, CONFIGURATION);
    assert.match(await cluster.destroy(), /releases the cluster, which keeps running/);
    assert.deepEqual(await onEach(MACHINES, CONFIGURATION), before);
    assert.deepEqual(await onEach(MACHINES, TRACES), traces);
    await ask(endpoint());
    await ask(service);
    await assertReleased(text, SCALED);
  });
});
