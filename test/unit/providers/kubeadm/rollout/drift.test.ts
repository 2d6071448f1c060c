import assert from "node:assert/strict";
import { annotationKeys } from "../../../../../providers/kubeadm/plan/rollout/annotations";
import { annotationPolicy } from "../../../../../providers/kubeadm/plan/rollout/annotation-policy";
import { observeRolloutNode, type RolloutNode } from "../../../../../providers/kubeadm/plan/rollout/observed";
import { describeRolloutStep, planRollout } from "../../../../../providers/kubeadm/plan/rollout/plan";
import { desiredFor, nodeAt } from "./nodes";

const HASH = "0123456789ab";
const KEYS = annotationKeys();

/** A node of a cluster that repairs, with files that others changed. */
function drifted(name: string, paths: string[], more = 0): RolloutNode {
  const node = nodeAt(name, "1.36.3");
  return { ...node, current: { ...node.current, drift: HASH }, drift: { hash: HASH, paths, more } };
}

const lines = (nodes: RolloutNode[], software: Record<string, string>, version = "1.36.3") =>
  planRollout(nodes, desiredFor(nodes, version, { clusterVersion: "1.36.3", software })).steps.map(
    describeRolloutStep,
  );

describe("a rollout of repairs", () => {
  it("names the files of each node that has some, and drains only for the kubelet's settings", () => {
    const nodes = [
      drifted("cp-1", ["/etc/kubernetes/manifests/etcd.yaml"]),
      drifted("w-1", ["/etc/motd", "/var/lib/kubelet/config.yaml"]),
      drifted("w-2", [], 2),
      nodeAt("w-3", "1.36.3"),
    ];
    const put = "put the files back, restart what reads them";
    assert.deepEqual(lines(nodes, { drift: "none" }), [
      `w-1: repair /etc/motd, /var/lib/kubelet/config.yaml (cordon, drain, ${put}, uncordon)`,
      `w-2: repair 2 files (cordon, drain, ${put}, uncordon)`,
      `cp-1: repair /etc/kubernetes/manifests/etcd.yaml (${put})`,
    ]);
  });

  it("has no step where drift is only reported", () => {
    assert.deepEqual(lines([drifted("w-1", ["/etc/motd"])], {}), []);
  });

  it("goes along with another version", () => {
    const [line] = lines([drifted("w-1", ["/etc/motd"])], { drift: "none", containerd: "1.7.2" });
    assert.equal(
      line,
      `w-1 1.36.3, drift ${HASH} → none, containerd unknown → 1.7.2 (cordon, drain, the node agent changes it, uncordon)`,
    );
  });
});

describe("a Node whose agent reports drift", () => {
  const node = {
    metadata: {
      name: "w-1",
      annotations: {
        [KEYS.current("drift")]: `${HASH} /etc/motd`,
        [KEYS.desired("drift")]: "none",
        [KEYS.ready]: "true",
      },
    },
  };

  it("has it among its versions only where drift is repaired: an earlier request asks for nothing", () => {
    const reported = observeRolloutNode(node);
    assert.deepEqual(reported.drift, { hash: HASH, paths: ["/etc/motd"], more: 0 });
    assert.deepEqual([reported.desired, reported.current], [{}, {}]);
    const repaired = observeRolloutNode(node, undefined, true);
    assert.deepEqual([repaired.desired, repaired.current], [{ drift: "none" }, { drift: HASH }]);
  });

  it("is protected by the policy in a cluster whose agents look for it", () => {
    const report = KEYS.current("drift");
    const text = (drift: boolean) => JSON.stringify(annotationPolicy("alpha.[software].caos.ch", { drift }));
    assert.ok(text(true).includes(report));
    assert.ok(text(true).includes(KEYS.desired("drift")));
    assert.ok(!text(false).includes(report));
  });
});
