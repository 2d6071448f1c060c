import assert from "node:assert/strict";
import { containerNodeSettings } from "../../sandbox/nodes";
import { KUBERNETES_VERSION } from "../../sandbox/systems/ssh-configuration";
import { draftedStack } from "../cluster/adopted-cluster";
import { BY_HAND, LIMIT_SECONDS, rewrittenObjects, takenAway } from "../cluster/by-hand";
import { makePlainCluster, plainKubeconfig } from "../cluster/plain-cluster";
import { TestCluster } from "../cluster/test-cluster";
import { leaveOut } from "../left-out";

const MACHINES = ["cp-1", "w-1"];

describe("settings that others wrote by hand on a cluster of plain kubeadm", function () {
  this.timeout(1_200_000);
  let cluster: TestCluster;
  before(async function () {
    if (process.env.FORESAIL_TEST_ALL !== "1")
      leaveOut(this, "an upgrade by kubeadm alone; FORESAIL_TEST_ALL=1 includes it");
    cluster = await TestCluster.open("by-hand");
    await cluster.configure({ machines: MACHINES });
    await makePlainCluster(cluster, {
      controlPlanes: ["cp-1"],
      workers: ["w-1"],
      podSubnet: "10.245.0.0/16",
    });
  });
  after(async () => {
    // absent when the suite is left out
    await (cluster as TestCluster | undefined)?.remove();
  });

  const upgrade = (machine: string, what: string) =>
    cluster.onMachine(
      machine,
      `kubeadm upgrade ${what} --ignore-preflight-errors=${containerNodeSettings.ignorePreflightErrors.join(",")}`,
      LIMIT_SECONDS,
    );

  it("are named by `foresail adopt` exactly as an upgrade by kubeadm takes them away", async () => {
    for (const [machine, script] of Object.entries(BY_HAND))
      await cluster.onMachine(machine, script, LIMIT_SECONDS);
    const before = await rewrittenObjects(cluster);
    const { draft, said } = await draftedStack(cluster, await plainKubeconfig(cluster, "cp-1"), MACHINES);
    assert.equal(draft.adopt, true);
    await upgrade("cp-1", `apply v${KUBERNETES_VERSION} --yes`);
    await upgrade("w-1", "node");
    const taken = takenAway(before, await rewrittenObjects(cluster));
    const named = said
      .map((line) => line.trim())
      .filter((line) => line.includes("first rollout of versions"));
    assert.deepEqual(named.sort(), taken.sort());
    assert.deepEqual(
      taken.map((line) => line.replace(/: .* (removes|puts back) /, " $1 ")),
      [
        "cp-1 puts back --leader-elect of the static pod kube-scheduler",
        "cp-1 removes --audit-log-maxage of the static pod kube-apiserver",
        "the cluster removes limit memory of the Deployment coredns",
        "the cluster removes variable BY_HAND of the DaemonSet kube-proxy",
        "w-1 removes maxPods of /var/lib/kubelet/config.yaml",
      ],
    );
  });
});
