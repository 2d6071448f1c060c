import assert from "node:assert/strict";
import type { RolloutNode } from "../../../../../providers/kubeadm/plan/rollout/observed";
import { describeRolloutStep, planRollout } from "../../../../../providers/kubeadm/plan/rollout/plan";
import { comparedNodes } from "../../../../../providers/kubeadm/plan/rollout/compared-nodes";
import { nodeRolloutSteps } from "../../../../../providers/kubeadm/plan/steps";
import { desiredFor, nodeAt } from "./nodes";

const BEFORE: Record<string, string> = { cp: "m1.k1.p1", w: "m1.k1" };
const cluster = (version = "1.36.3", over: Partial<RolloutNode> = {}) =>
  ["cp-1", "cp-2", "cp-3", "w-1"].map((name) => {
    const node = nodeAt(name, version, over);
    return { ...node, current: { ...node.current, configuration: BEFORE[name.split("-")[0]!]! } };
  });
const lines = (nodes: RolloutNode[], controlPlane: string, worker: string, version = "1.36.3") =>
  planRollout(
    nodes,
    desiredFor(nodes, version, {
      clusterVersion: nodes[0]?.kubeletVersion,
      configuration: { "control-plane": controlPlane, worker },
    }),
  ).steps.map(describeRolloutStep);

describe("a rollout of another configuration", () => {
  it("goes to control planes alone when only their static pods change, without a drain", () => {
    assert.deepEqual(
      lines(cluster(), "m1.k1.p2", "m1.k1"),
      ["cp-1", "cp-2", "cp-3"].map(
        (name) =>
          `${name}: configuration m1.k1.p1 → m1.k1.p2 (apply its files, restart the static pods that change, restart the kubelet)`,
      ),
    );
  });

  it("connects every node to another endpoint, without a drain", () => {
    const nodes = cluster().map((node) => {
      const configuration = node.controlPlane ? "m1.k1.p1.e1.c1.l1" : "m1.k1.l1";
      return { ...node, current: { ...node.current, configuration } };
    });
    const work = "apply its files, connect to the new endpoint";
    assert.deepEqual(lines(nodes, "m1.k1.p1.e1.c1.l2", "m1.k1.l2"), [
      `w-1: configuration m1.k1.l1 → m1.k1.l2 (${work}, restart the kubelet)`,
      ...["cp-1", "cp-2", "cp-3"].map(
        (name) =>
          `${name}: configuration m1.k1.p1.e1.c1.l1 → m1.k1.p1.e1.c1.l2 (${work}, restart the static pods that change, restart the kubelet)`,
      ),
    ]);
  });

  it("restarts etcd on control planes whose version has another part for it", () => {
    const nodes = cluster().map((node) => {
      const configuration = node.controlPlane ? "m1.k1.p1.e1" : "m1.k1";
      return { ...node, current: { ...node.current, configuration } };
    });
    assert.deepEqual(
      lines(nodes, "m1.k1.p1.e2", "m1.k1"),
      ["cp-1", "cp-2", "cp-3"].map(
        (name) =>
          `${name}: configuration m1.k1.p1.e1 → m1.k1.p1.e2 (apply its files, restart etcd, restart the static pods that change, restart the kubelet)`,
      ),
    );
    assert.doesNotMatch(lines(nodes, "m1.k1.p2.e1", "m1.k1").join(), /etcd/);
  });

  it("gives API servers another certificate whose version has another part for it", () => {
    const nodes = cluster().map((node) => {
      const configuration = node.controlPlane ? "m1.k1.p1.e1.c1" : "m1.k1";
      return { ...node, current: { ...node.current, configuration } };
    });
    const steps = lines(nodes, "m1.k1.p2.e1.c2", "m1.k1");
    assert.deepEqual(
      steps,
      ["cp-1", "cp-2", "cp-3"].map(
        (name) =>
          `${name}: configuration m1.k1.p1.e1.c1 → m1.k1.p2.e1.c2 (apply its files, give the API server a certificate with the new names, restart the static pods that change, restart the kubelet)`,
      ),
    );
    const [compared] = comparedNodes(steps.map((step) => nodeRolloutSteps.parse(step)!));
    assert.deepEqual(compared, { machine: "cp-1", rendersKubeadm: true, createsCertificate: true });
    assert.doesNotMatch(lines(nodes, "m1.k1.p2.e1.c1", "m1.k1").join(), /certificate/);
  });

  it("drains each node for another configuration of the kubelet, and leaves a cordoned one cordoned", () => {
    const [first, second] = lines(cluster(), "m1.k2.p1", "m1.k2");
    assert.equal(
      second,
      "cp-1: configuration m1.k1.p1 → m1.k2.p1 (cordon, drain, apply its files, restart the static pods that change, restart the kubelet, uncordon)",
    );
    assert.equal(
      first,
      "w-1: configuration m1.k1 → m1.k2 (cordon, drain, apply its files, restart the kubelet, uncordon)",
    );
    const cordoned = cluster().map((node) => ({ ...node, unschedulable: node.name === "w-1" }));
    assert.equal(
      lines(cordoned, "m1.k2.p1", "m1.k2")[0],
      "w-1: configuration m1.k1 → m1.k2 (drain, apply its files, restart the kubelet)",
    );
  });

  it("reaches every node for files, without a drain", () => {
    assert.deepEqual(
      lines(cluster(), "m2.k1.p1", "m2.k1")[0],
      "w-1: configuration m1.k1 → m2.k1 (apply its files, restart the kubelet)",
    );
  });

  it("comes with a version in one change of each node", () => {
    const [first, second] = lines(cluster("1.35.4"), "m1.k1.p2", "m1.k1", "1.36.3");
    assert.equal(
      first,
      "cp-1 1.35.4 → 1.36.3, configuration m1.k1.p1 → m1.k1.p2 (cordon, drain, kubeadm upgrade apply, uncordon)",
    );
    assert.match(second!, /^cp-2 1\.35\.4 → 1\.36\.3, configuration /);
  });

  it("finishes a node that an earlier run began, and only closes one that has its configuration", () => {
    const wanted = { ...nodeAt("cp-1", "1.36.3").current, configuration: "m1.k1.p2" };
    const open = { changesAllowed: true, agentReady: false, desired: wanted };
    const [begun, ...others] = cluster();
    assert.equal(
      lines([{ ...begun!, ...open }, ...others], "m1.k1.p2", "m1.k1")[0],
      "cp-1: begun by an earlier run: configuration m1.k1.p1 → m1.k1.p2 (apply its files, restart the static pods that change, restart the kubelet)",
    );
    const ended = { ...begun!, ...open, agentReady: true, current: wanted };
    assert.equal(
      lines([ended, ...others], "m1.k1.p2", "m1.k1")[0],
      "cp-1 1.36.3 (begun by an earlier run: uncordon)",
    );
  });

  it("has no step where every node has it", () => {
    assert.deepEqual(lines(cluster(), "m1.k1.p1", "m1.k1"), []);
  });

  it("is compared in a preview with the kubeadm of each machine, if that is the one which writes its files", () => {
    const compared = (nodes: RolloutNode[], controlPlane: string, worker: string, version?: string) =>
      comparedNodes(lines(nodes, controlPlane, worker, version).map((step) => nodeRolloutSteps.parse(step)!));
    const [cp1, cp2, cp3, w1] = cluster();
    const names = ["cp-1", "cp-2", "cp-3", "w-1"];
    assert.deepEqual(compared(cluster(), "m1.k1.p1", "m1.k1"), []);
    const all = (rendersKubeadm: boolean) =>
      ["w-1", "cp-1", "cp-2", "cp-3"].map((machine) => ({ machine, rendersKubeadm }));
    assert.deepEqual(compared(cluster(), "m2.k1.p1", "m2.k1"), all(false));
    // static pods change on control planes alone
    assert.deepEqual(compared(cluster(), "m2.k1.p2", "m2.k1"), all(true));
    const later = (kubeadm: string) => ({ rendersKubeadm: false, kubeadm });
    assert.deepEqual(
      compared(cluster("1.35.4"), "m2.k1.p2", "m2.k1", "1.36.3"),
      names.map((machine) => ({ machine, ...later("1.36.3") })),
    );
    // two minor versions: the configuration comes with the first of them, and the second writes the files again
    assert.deepEqual(
      compared(cluster("1.34.4"), "m2.k1.p2", "m2.k1", "1.36.3"),
      names.map((machine) => ({ machine, ...later("1.36.3") })),
    );
    // one node is at the old version
    const old = { ...w1!, kubeletVersion: "1.35.4", current: { ...w1!.current, kubelet: "1.35.4" } };
    assert.deepEqual(compared([cp1!, cp2!, cp3!, old], "m1.k1.p2", "m2.k1"), [
      ...names.slice(0, 3).map((machine) => ({ machine, rendersKubeadm: true })),
      { machine: "w-1", ...later("1.36.3") },
    ]);
    assert.deepEqual(compared(cluster("1.35.4"), "m1.k1.p1", "m1.k1", "1.36.3"), []);
  });
});
