import assert from "node:assert/strict";
import { containerNodeSettings } from "../../sandbox/nodes";
import { KUBERNETES_VERSION } from "../../sandbox/systems/ssh-configuration";
import { assertKubeadmAccepts } from "../cluster/kubeadm-suite";
import {
  assertBecameNodeAsListed,
  assertPreparedAsListed,
  READ_JOURNALS,
  READ_PREPARATION,
} from "../cluster/preparation-truth";
import { readyNodes } from "../cluster/reachability";
import { TestCluster } from "../cluster/test-cluster";
import { leaveOut } from "../left-out";
import { oneAfterTheOther } from "../one-after-the-other";

const ROLE = "node-role.kubernetes.io/control-plane";
const MACHINES = ["cp-1"];

describe("a cluster of one machine that runs pods, on a real node", function () {
  this.timeout(600_000);
  oneAfterTheOther();
  let cluster: TestCluster;
  const configure = (kubelet: Record<string, unknown> = {}) =>
    cluster.configure({
      machines: MACHINES,
      fields: {
        kubeadm: {
          ...containerNodeSettings.kubeadm,
          initConfiguration: { nodeRegistration: { taints: [] } },
        },
        kubelet: { ...containerNodeSettings.kubelet, ...kubelet },
      },
    });
  const node = () =>
    cluster.withApi(async (client) => {
      const { metadata, spec } = (await client.getNode("cp-1")) ?? {};
      return { role: metadata?.labels?.[ROLE], taints: (spec?.taints ?? []).map(({ key }) => key) };
    });
  const expectUnchanged = async () => assert.deepEqual((await cluster.preview()).changes, []);

  before(async () => {
    cluster = await TestCluster.open("one-machine");
  });
  after(() => cluster.remove());

  it("comes up as its preview listed: its pods are available, kubeadm accepts it, and the next preview is empty", async () => {
    await configure();
    const { steps } = await cluster.preview();
    await cluster.up();
    const log = await cluster.onMachine("cp-1", READ_PREPARATION);
    const previewed = Object.values(steps).flat();
    assertPreparedAsListed(previewed, { machine: "cp-1", log, isBundle: true });
    const journals = await cluster.onMachine("cp-1", READ_JOURNALS);
    assertBecameNodeAsListed(previewed, { machine: "cp-1", journals });
    assert.deepEqual(await node(), { role: "", taints: [] });
    await cluster.check(MACHINES);
    await assertKubeadmAccepts(cluster, KUBERNETES_VERSION, { isTainted: false });
    await expectUnchanged();
  });

  it("is entered by its name, with what the stack's state has", async () => {
    const { exitCode, stdout } = await cluster.foresail(
      "ssh",
      "cp-1",
      "--",
      "cat",
      "/etc/hostname;",
      "exit",
      "7",
    );
    assert.deepEqual([exitCode, stdout.trim()], [7, "cp-1"]);
  });

  it("takes a change of the kubelet's settings, and its pods run again afterwards", async function () {
    if (process.env.FORESAIL_TEST_ALL !== "1")
      leaveOut(this, "ssh.test.ts changes the kubelet's settings; FORESAIL_TEST_ALL=1 does it here, too");
    await configure({ maxPods: 90 });
    await cluster.up();
    await cluster.check(MACHINES);
    await expectUnchanged();
  });

  it("has no taint when its Node was deleted by hand and registers again", async () => {
    await cluster.withApi((client) => client.delete({ apiVersion: "v1", kind: "Node", name: "cp-1" }));
    await cluster.up();
    assert.deepEqual(await readyNodes(cluster), MACHINES);
    assert.deepEqual(await node(), { role: "", taints: [] });
    await cluster.check(MACHINES);
    await expectUnchanged();
  });

  it("is destroyed", async () => {
    await cluster.destroy();
    assert.equal(await cluster.onMachine("cp-1", "ls /etc/kubernetes/manifests 2>/dev/null | wc -l"), "0\n");
  });
});
