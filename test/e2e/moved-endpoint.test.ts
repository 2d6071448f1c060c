import assert from "node:assert/strict";
import { parse } from "yaml";
import { type Balancer, startBalancer } from "../cluster/balancer";
import { CONFIGURATION_KEY } from "../cluster/configuration-change";
import { killUpWhen } from "../cluster/killed-engine";
import { assertPreviewedDiff, diffLines, managedFiles } from "../cluster/previewed-diff";
import { readyNodes } from "../cluster/reachability";
import { TestCluster } from "../cluster/test-cluster";
import { leaveOut } from "../left-out";
import { oneAfterTheOther } from "../one-after-the-other";
import { clusterInitSteps, nodeRolloutSteps } from "../../providers/kubeadm/plan/steps";
import { stepsOfKind } from "../support/steps";

const KEEP = process.env.FORESAIL_TEST_KEEP === "1";
const MACHINES = ["cp-1", "w-1"];
const SCALED = [...MACHINES, "w-2"];

/** Writes the objects that have the endpoint as another program may, so that only a parser of YAML reads them. */
const writeAsJson = (cluster: TestCluster) =>
  cluster.withApi(async (client) => {
    for (const [namespace, name, key] of [
      ["kube-system", "kubeadm-config", "ClusterConfiguration"],
      ["kube-public", "cluster-info", "kubeconfig"],
      ["kube-system", "kube-proxy", "kubeconfig.conf"],
    ] as const) {
      const reference = { apiVersion: "v1", kind: "ConfigMap", namespace, name };
      const text = (await client.get<{ data?: Record<string, string> }>(reference))?.data?.[key];
      assert.ok(text, name);
      await client.mergePatch(reference, { data: { [key]: JSON.stringify(parse(text)) } });
    }
  });

describe("a cluster that moves from one load balancer to another", function () {
  this.timeout(1_500_000);
  let cluster: TestCluster;
  let old: Balancer;
  let next: Balancer;

  before(async function () {
    if (process.env.FORESAIL_TEST_ALL !== "1" && !KEEP)
      leaveOut(
        this,
        "adopted-configuration.test.ts moves one by default; FORESAIL_TEST_ALL=1 includes this one",
      );
    cluster = await TestCluster.open("moved", { keep: KEEP });
  });

  oneAfterTheOther(KEEP);

  after(async () => {
    // absent when the suite is left out
    const opened = cluster as TestCluster | undefined;
    if (!KEEP) await opened?.remove();
  });

  const configure = (
    { host, port }: Balancer,
    names: string[] = [],
    machines: readonly string[] = MACHINES,
  ) =>
    cluster.configure({
      machines,
      fields: {
        endpoint: { external: { host, port } },
        kubeadm: { clusterConfiguration: { apiServer: { certSANs: names } } },
      },
    });
  const serverIn = (machine: string, file: string) =>
    cluster.onMachine(machine, `sed -n 's|^ *server: https://||p' /etc/kubernetes/${file}.conf`);

  it("is made behind the first", async () => {
    await cluster.configure({ machines: MACHINES });
    old = await startBalancer(cluster, "lb-1", ["cp-1"]);
    next = await startBalancer(cluster, "lb-2", ["cp-1"]);
    await configure(old);
    await cluster.up();
    assert.deepEqual(await readyNodes(cluster), MACHINES);
    assert.equal(await serverIn("w-1", "kubelet"), `${old.host}:${old.port}\n`);
  });

  it("is refused while the certificate lacks the name, with what to do, and nothing is written", async () => {
    const files = await managedFiles(cluster, MACHINES);
    await configure(next);
    const refusal = /cluster\.endpoint\.external\.host.*cp-1: the certificate of its API server is not for/;
    await assert.rejects(cluster.preview(), refusal);
    assert.match(await cluster.failingUp(), refusal);
    assert.deepEqual(await managedFiles(cluster, MACHINES), files);
  });

  it("moves after the name is in the certificate, killed at its control plane, as the preview showed, with its objects written as JSON", async () => {
    await writeAsJson(cluster);
    await configure(old, [next.host]);
    await cluster.up();
    await configure(next, [next.host]);
    const files = await managedFiles(cluster, MACHINES);
    const { steps, notes } = await cluster.preview();
    const [written] = stepsOfKind(clusterInitSteps, "endpoint", steps["moved-init"]);
    assert.equal(written?.kubeProxy, true);
    const moving = stepsOfKind(nodeRolloutSteps, "configure", steps["moved-rollout"]).filter(
      ({ endpoint }) => endpoint,
    );
    assert.equal(moving.length, MACHINES.length, JSON.stringify(steps));
    await killUpWhen(
      cluster,
      "cp-1",
      "the configuration of cp-1",
      (annotations) => (annotations[CONFIGURATION_KEY] ?? "").split(".").length > 5,
    );
    await cluster.up();
    assertPreviewedDiff(diffLines(notes), files, await managedFiles(cluster, MACHINES));
    assert.deepEqual((await cluster.preview()).changes, []);
  });

  it("lives without the first: nodes stay Ready, kube-proxy runs, and a worker joins through the second", async () => {
    await cluster.onMachine("lb-1", "systemctl stop haproxy");
    const address = `${next.host}:${next.port}`;
    assert.equal(await serverIn("cp-1", "admin"), `${address}\n`);
    const stored = await cluster.onMachine(
      "cp-1",
      `for name in kube-system/kubeadm-config kube-public/cluster-info kube-system/kube-proxy; do
        kubectl --kubeconfig /etc/kubernetes/admin.conf --namespace "\${name%/*}" get configmap "\${name#*/}" --output yaml
      done | grep -oE '(controlPlaneEndpoint: |server: https://)[^ "]*'`,
    );
    assert.deepEqual(stored.trim().split("\n"), [
      `controlPlaneEndpoint: ${address}`,
      `server: https://${address}`,
      `server: https://${address}`,
    ]);
    await configure(next, [next.host], SCALED);
    await cluster.up();
    assert.deepEqual(await readyNodes(cluster), SCALED);
    assert.equal(await serverIn("w-2", "kubelet"), `${address}\n`);
    assert.deepEqual((await cluster.preview()).changes, []);
  });
});
