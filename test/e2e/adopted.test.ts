import assert from "node:assert/strict";
import { parse } from "yaml";
import type { KubernetesClient, KubernetesObject } from "../../lib/kubernetes";
import { AGENT_VERSION } from "../../providers/kubeadm/machine/node-agent";
import { KUBE_PROXY } from "../../providers/kubeadm/plan/adoption/adopted-kube-proxy";
import { ANNOTATION_POLICY } from "../../providers/kubeadm/plan/rollout/annotation-policy";
import { containerNodeSettings } from "../../sandbox/nodes";
import { KUBERNETES_VERSION } from "../../sandbox/systems/ssh-configuration";
import { assertReleased, CONFIGURATION, TRACES } from "../cluster/adopted-cluster";
import { AUDITED } from "../cluster/audit-log";
import { CONFIGURATION_KEY, expectedSteps } from "../cluster/configuration-change";
import { assertKubeadmAccepts } from "../cluster/kubeadm-suite";
import { killUpWhen } from "../cluster/killed-engine";
import { makePlainCluster, plainKubeconfig, writePlugins } from "../cluster/plain-cluster";
import { assertPreviewedDiff, diffLines, managedFiles } from "../cluster/previewed-diff";
import { readyNodes } from "../cluster/reachability";
import { makeServing } from "../cluster/serving-deployment";
import { TestCluster } from "../cluster/test-cluster";
import { withApi } from "../cluster/with-api";
import { withoutPreparation } from "../support/steps";
import { leaveOut } from "../left-out";
import { oneAfterTheOther } from "../one-after-the-other";

const KEEP = process.env.FORESAIL_TEST_KEEP === "1";
const MACHINES = ["cp-1", "w-1"];
const SCALED = [...MACHINES, "w-2"];
const PLAIN = {
  controlPlanes: ["cp-1"],
  workers: ["w-1"],
  hostnames: { "w-1": "rack-7-b" },
  podSubnet: "10.245.0.0/16",
};

const API_SERVER = "/etc/kubernetes/manifests/kube-apiserver.yaml";
const ETCD = "/etc/kubernetes/manifests/etcd.yaml";
const { etcd, ...ofControlPlane } = containerNodeSettings.kubeadm.clusterConfiguration;
const ETCD_CHANGED = {
  local: { extraArgs: [...etcd.local.extraArgs, { name: "snapshot-count", value: "20000" }] },
};
const NODE_PORTS = { nodePortAddresses: ["primary"] };
const AUDITED_HERE = {
  files: AUDITED.files,
  kubeProxy: { ...containerNodeSettings.kubeProxy, ...NODE_PORTS },
  kubeadm: {
    clusterConfiguration: {
      ...{ ...ofControlPlane, etcd: ETCD_CHANGED },
      ...AUDITED.kubeadm.clusterConfiguration,
    },
  },
};

/** The lines of a text that another does not have. @throws AssertionError when lines are missing */
function linesAdded(before: string, after: string): string[] {
  const lines = after.split("\n");
  for (const line of before.split("\n")) {
    const at = lines.indexOf(line);
    assert.notEqual(at, -1, `missing: ${line}`);
    lines.splice(at, 1);
  }
  return lines;
}
const withoutChanged = (sums: string) =>
  sums
    .split("\n")
    .filter((line) => !line.endsWith(API_SERVER) && !line.endsWith(ETCD))
    .join("\n");

const BY_NIGHT = process.env.FORESAIL_TEST_ALL === "1";

describe("a cluster that plain kubeadm made", function () {
  let cluster: TestCluster;
  let service = "";
  let original: unknown;
  let plain = { configuration: [] as string[], traces: [] as string[] };

  before(async () => {
    cluster = await TestCluster.open("adopted", { keep: KEEP });
  });

  oneAfterTheOther(KEEP);

  after(async () => {
    if (!KEEP) await cluster.remove();
  });

  const onEach = (script: string) =>
    Promise.all(MACHINES.map((machine) => cluster.onMachine(machine, script)));
  const addressOf = async (machine: string) =>
    (await cluster.fleet.list()).find(({ name }) => name === machine)?.internalAddress ?? "192.0.2.1";
  const configure = async (machines: readonly string[], podSubnet = PLAIN.podSubnet, fields = {}) =>
    cluster.configure({
      machines,
      fields: {
        ...fields,
        adopt: true,
        encryptSecretsAtRest: false,
        network: { podSubnet, plugin: { none: {} } },
        endpoint: { external: { host: await addressOf("cp-1"), port: 6443 } },
      },
    });
  /** kubeadm's objects in the cluster: the one that foresail changes, parsed, and the text of the other. */
  const kubeadmObjects = () =>
    cluster.withApi(async (client) => {
      const dataOf = async (name: string, key: string) => {
        const reference = { apiVersion: "v1", kind: "ConfigMap", namespace: "kube-system", name };
        return (await client.get<{ data?: Record<string, string> }>(reference))?.data?.[key] ?? "";
      };
      return {
        cluster: parse(await dataOf("kubeadm-config", "ClusterConfiguration")) as Record<string, unknown>,
        kubelet: await dataOf("kubelet-config", "kubelet"),
        kubeProxy: parse(await dataOf("kube-proxy", "config.conf")) as Record<string, unknown>,
        daemonSet: await templateOf(client),
      };
    });
  /** The pods of kube-proxy, without the time of their last restart. */
  const templateOf = async (client: KubernetesClient) => {
    const found = await client.get<{ spec?: { template?: KubernetesObject } }>(KUBE_PROXY);
    const { metadata, ...template } = found?.spec?.template ?? {};
    return { labels: metadata?.labels, ...template };
  };
  const answers = () => cluster.onMachine("cp-1", `curl --fail --silent --max-time 10 ${service}`);

  it("is refused with the paths as long as a machine is not a member and a setting differs, and nothing is written", async () => {
    await configure(SCALED);
    await makePlainCluster(cluster, PLAIN);
    const text = await plainKubeconfig(cluster, "cp-1");
    service = await withApi(text, (client) => makeServing(client, { name: "serving", replicas: 2 }));
    plain = { configuration: await onEach(CONFIGURATION), traces: await onEach(TRACES) };

    await configure(SCALED);
    assert.match(
      await cluster.failingUp(),
      /cluster\.machines\[2\].*w-2: is not a member of a kubeadm cluster/,
    );
    await configure(MACHINES, "10.246.0.0/16");
    assert.match(await cluster.failingUp(), /cluster\.network\.podSubnet.*10\.245\.0\.0\/16/);
    assert.deepEqual({ configuration: await onEach(CONFIGURATION), traces: await onEach(TRACES) }, plain);
  });

  it("is previewed as an adoption of each machine, and of nothing else", async () => {
    await configure(MACHINES);
    const where = `of the cluster at ${await addressOf("cp-1")}:6443, Kubernetes ${KUBERNETES_VERSION}`;
    const { steps } = await cluster.preview();
    assert.deepEqual(steps, {
      "adopted-init": [`cp-1: adopt as control plane ${where}`, `w-1: adopt as worker ${where}`],
      "adopted-control-plane": ["cp-1: label foresail/group=control-plane"],
      "adopted-workers": ["w-1: label node-role.kubernetes.io/workers=, label foresail/group=workers"],
      "adopted-node-agents": MACHINES.flatMap((machine) => [
        `${machine}: install node agent ${AGENT_VERSION}`,
        `${machine}: stage ${KUBERNETES_VERSION}`,
      ]),
      "adopted-reader": [
        `cluster: install the ValidatingAdmissionPolicy ${ANNOTATION_POLICY}, for the annotations alpha.[software].caos.ch`,
      ],
    });
    assert.deepEqual({ configuration: await onEach(CONFIGURATION), traces: await onEach(TRACES) }, plain);
  });

  it("is adopted without a change of Kubernetes on any machine, and a second preview is empty", async () => {
    await cluster.up();
    assert.deepEqual(await onEach(CONFIGURATION), plain.configuration);
    assert.deepEqual((await cluster.preview()).changes, []);
    await assertKubeadmAccepts(cluster, KUBERNETES_VERSION);
    await answers();
  });

  it("is scaled by a worker as any cluster", async () => {
    await configure(SCALED);
    const { steps } = await cluster.preview();
    assert.deepEqual(withoutPreparation(steps["adopted-workers"]), [
      "w-2: join as worker of workers, wait until Ready",
      "cluster DNS: move its pods apart if all of them are on one node",
    ]);
    await writePlugins(cluster, PLAIN.podSubnet, new Map([["w-2", "10.245.2.0/24"]]));
    await cluster.up();
    assert.deepEqual(await readyNodes(cluster), SCALED);
    assert.deepEqual((await cluster.preview()).changes, []);
  });

  it("refuses to write over a file that others have put in the place of a configured one", async () => {
    const [policy] = AUDITED.files;
    await cluster.onMachine("w-1", `mkdir -p /etc/kubernetes/audit; echo theirs >${policy?.path}`);
    await configure(SCALED, PLAIN.podSubnet, AUDITED_HERE);
    const refusal =
      /cluster\.files\[0\]\.content.*w-1: \/etc\/kubernetes\/audit\/policy\.yaml exists with another content/;
    await assert.rejects(cluster.preview(), refusal);
    assert.match(await cluster.failingUp(), refusal);
    await cluster.onMachine("w-1", "rm -r /etc/kubernetes/audit");
    assert.deepEqual(await onEach(CONFIGURATION), plain.configuration);
  });

  it("turns audit logging on with other settings of etcd and kube-proxy, killed in the middle, and changes nothing that others configured", async function () {
    if (!BY_NIGHT)
      leaveOut(
        this,
        "engine/adopted-configuration.test.ts does so on simulated machines: FORESAIL_TEST_ALL=1",
      );
    await configure(SCALED, PLAIN.podSubnet, AUDITED_HERE);
    const before = await kubeadmObjects();
    const manifest = await cluster.onMachine("cp-1", `cat ${API_SERVER}`);
    const files = await managedFiles(cluster, SCALED);
    const { steps, notes } = await cluster.preview();
    assert.deepEqual(await managedFiles(cluster, SCALED), files);
    assert.deepEqual(steps["adopted-init"], [
      "configuration: cluster.files, cluster.kubeadm.clusterConfiguration.apiServer.extraArgs, cluster.kubeadm.clusterConfiguration.apiServer.extraVolumes, cluster.kubeadm.clusterConfiguration.etcd.local.extraArgs, cluster.kubeProxy.nodePortAddresses; each node gets it from its rollout",
      "cluster: write kubeadm-config and kubelet-config",
      "cluster: write the configuration of kube-proxy, and restart it on each node in turn",
    ]);
    const listed = (steps["adopted-rollout"] ?? []).filter((line) => line.includes(": configuration "));
    expectedSteps(SCALED, { further: ["etcd"] }).forEach((line, index) =>
      assert.match(listed[index] ?? "", line),
    );
    assert.equal(listed.length, SCALED.length);
    await killUpWhen(
      cluster,
      "cp-1",
      "the configuration of cp-1",
      (found) => found[CONFIGURATION_KEY] !== undefined,
    );
    await cluster.up();
    assertPreviewedDiff(diffLines(notes), files, await managedFiles(cluster, SCALED));
    assert.deepEqual((await cluster.preview()).changes, []);

    const running = await cluster.onMachine("cp-1", "tr '\\0' ' ' </proc/$(pidof kube-apiserver)/cmdline");
    assert.match(running, / --audit-policy-file=/);
    assert.match(await cluster.onMachine("cp-1", "wc -l </var/log/kubernetes/audit.log"), /^[1-9]/);
    const added = linesAdded(manifest, await cluster.onMachine("cp-1", `cat ${API_SERVER}`));
    assert.ok(
      added.length > 0 && added.every((line) => /audit|kubernetes$|readOnly|hostPath|type:/.test(line)),
      added.join(),
    );
    assert.deepEqual(
      await onEach(`${CONFIGURATION} | grep -v 'audit/policy.yaml$\\|${API_SERVER}$\\|${ETCD}$'`),
      plain.configuration.map(withoutChanged),
    );
    const after = await kubeadmObjects();
    assert.equal(after.kubelet, before.kubelet);
    const { apiServer } = AUDITED.kubeadm.clusterConfiguration;
    const { apiServer: own, etcd: member, ...others } = before.cluster;
    assert.deepEqual(after.cluster, {
      ...others,
      apiServer: { ...(own as object), ...apiServer },
      etcd: { ...(member as object), local: { ...(member as typeof etcd).local, ...ETCD_CHANGED.local } },
    });
    assert.deepEqual(after.kubeProxy, { ...before.kubeProxy, ...NODE_PORTS });
    assert.deepEqual(after.daemonSet, before.daemonSet);
    assert.match(
      await cluster.onMachine("cp-1", "tr '\\0' ' ' </proc/$(pidof etcd)/cmdline"),
      / --snapshot-count=20000 /,
    );
    await assertKubeadmAccepts(cluster, KUBERNETES_VERSION);
    original = before;
    await answers();
  });

  it("turns it off again: every file is, byte for byte, what it was before", async function () {
    if (!BY_NIGHT) leaveOut(this, "nothing was turned on: FORESAIL_TEST_ALL=1");
    await configure(SCALED);
    const files = await managedFiles(cluster, SCALED);
    const { notes } = await cluster.preview();
    await cluster.up();
    assertPreviewedDiff(diffLines(notes), files, await managedFiles(cluster, SCALED));
    assert.deepEqual((await cluster.preview()).changes, []);
    assert.deepEqual(await onEach(CONFIGURATION), plain.configuration);
    assert.deepEqual(await kubeadmObjects(), original);
    assert.deepEqual(await readyNodes(cluster), SCALED);
    await answers();
  });

  it("is hardened by a profile, as the preview's diff shows, and loses it again but for modes", async function () {
    if (!BY_NIGHT) leaveOut(this, "two rollouts of configuration; FORESAIL_TEST_ALL=1 includes them");
    const fields = { ...AUDITED_HERE, profile: "cis" };
    await configure(SCALED, PLAIN.podSubnet, fields);
    const files = await managedFiles(cluster, SCALED);
    const lines = diffLines((await cluster.preview()).notes);
    await cluster.up();
    assertPreviewedDiff(lines, files, await managedFiles(cluster, SCALED));
    for (const line of ["--- /etc/kubernetes/pki/ca.crt", "mode 644 root:root → 600 root:root"])
      assert.ok(lines.includes(line), lines.join("\n"));
    await configure(SCALED);
    const hardened = await managedFiles(cluster, SCALED);
    const { notes } = await cluster.preview();
    await cluster.up();
    assertPreviewedDiff(diffLines(notes), hardened, await managedFiles(cluster, SCALED));
    assert.deepEqual(await onEach(CONFIGURATION), plain.configuration);
    assert.deepEqual(await kubeadmObjects(), original);
  });

  it("is released by a destroy: it keeps serving, and nothing of foresail is left on its machines", async () => {
    const { text } = await cluster.kubeconfig();
    const output = await cluster.destroy();
    assert.match(output, /releases the cluster, which keeps running/);
    assert.deepEqual({ configuration: await onEach(CONFIGURATION), traces: await onEach(TRACES) }, plain);
    await answers();
    await assertReleased(text, SCALED);
  });
});
