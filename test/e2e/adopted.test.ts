import assert from "node:assert/strict";
import { AGENT_VERSION } from "../../providers/kubeadm/machine/node-agent";
import { ANNOTATION_POLICY } from "../../providers/kubeadm/plan/rollout/annotation-policy";
import { KUBERNETES_VERSION } from "../../sandbox/systems/ssh-configuration";
import { makePlainCluster, plainKubeconfig, writePlugin } from "../cluster/plain-cluster";
import { readyNodes } from "../cluster/reachability";
import { makeServing } from "../cluster/serving-deployment";
import { TestCluster } from "../cluster/test-cluster";
import { withApi } from "../cluster/with-api";
import { oneAfterTheOther } from "../one-after-the-other";

const KEEP = process.env.FORESAIL_TEST_KEEP === "1";
const MACHINES = ["cp-1", "w-1"];
const SCALED = [...MACHINES, "w-2"];
const PLAIN = { controlPlane: "cp-1", worker: "w-1", hostname: "rack-7-b", podSubnet: "10.245.0.0/16" };

/** What Kubernetes and its container runtime are configured with, as checksums. */
const CONFIGURATION =
  "find /etc/kubernetes /etc/containerd /etc/cni /etc/systemd/system/kubelet.service /etc/sysctl.d /etc/apt /usr/local/bin /var/lib/kubelet/config.yaml /var/lib/kubelet/kubeadm-flags.env -type f | sort | xargs sha256sum";
/** Files and folders of foresail; the test's machines have some of their own. */
const TRACES = "find /etc /usr/local /var/lib /var/log -xdev -path '*foresail*' | sort";

describe("a cluster that plain kubeadm made", function () {
  let cluster: TestCluster;
  let service = "";
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
  const configure = async (machines: readonly string[], podSubnet = PLAIN.podSubnet) =>
    cluster.configure({
      machines,
      fields: {
        adopt: true,
        encryptSecretsAtRest: false,
        network: { podSubnet, plugin: { none: {} } },
        endpoint: { external: { host: await addressOf("cp-1"), port: 6443 } },
      },
    });
  const answers = () => cluster.onMachine("cp-1", `curl --fail --silent --max-time 10 ${service}`);

  it("is refused with the paths as long as a machine is no member and a setting differs, and nothing is written", async () => {
    await configure(SCALED);
    await makePlainCluster(cluster, PLAIN);
    const text = await plainKubeconfig(cluster, PLAIN.controlPlane);
    service = await withApi(text, (client) => makeServing(client, { name: "serving", replicas: 2 }));
    plain = { configuration: await onEach(CONFIGURATION), traces: await onEach(TRACES) };

    await configure(SCALED);
    assert.match(await cluster.failingUp(), /cluster\.machines\[2\].*w-2: is no member of a kubeadm cluster/);
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
    await answers();
  });

  it("is scaled by a worker as any cluster", async () => {
    await configure(SCALED);
    assert.deepEqual((await cluster.preview()).steps["adopted-workers"], [
      "w-2: join as worker of workers, wait until Ready",
      "cluster DNS: move its pods apart if all of them are on one node",
    ]);
    await writePlugin(cluster, "w-2", { own: "10.245.2.0/24", podSubnet: PLAIN.podSubnet });
    await cluster.up();
    assert.deepEqual(await readyNodes(cluster), SCALED);
    assert.deepEqual((await cluster.preview()).changes, []);
  });

  it("is released by a destroy: it keeps serving, and nothing of foresail is left on its machines", async () => {
    const { text } = await cluster.kubeconfig();
    const output = await cluster.destroy();
    assert.match(output, /releases the cluster, which keeps running/);
    assert.deepEqual({ configuration: await onEach(CONFIGURATION), traces: await onEach(TRACES) }, plain);
    await answers();
    await withApi(text, async (client) => {
      const nodes = await client.listNodes();
      assert.deepEqual(nodes.map(({ metadata }) => metadata?.name).sort(), SCALED);
      for (const { metadata } of nodes) {
        const keys = [...Object.keys(metadata?.labels ?? {}), ...Object.keys(metadata?.annotations ?? {})];
        assert.deepEqual(
          keys.filter((key) => /foresail|caos/.test(key)),
          [],
          metadata?.name,
        );
      }
      const reader = {
        apiVersion: "v1",
        kind: "ServiceAccount",
        namespace: "kube-system",
        name: "foresail-reader",
      };
      assert.equal(await client.get(reader), undefined);
    });
  });
});
