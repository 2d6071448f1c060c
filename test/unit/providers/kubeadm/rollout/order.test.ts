import assert from "node:assert/strict";
import { nextSteps } from "../../../../../providers/kubeadm/plan/rollout/next";
import type { DesiredRollout } from "../../../../../providers/kubeadm/plan/rollout/desired";
import type { RolloutNode } from "../../../../../providers/kubeadm/plan/rollout/observed";
import { planRollout } from "../../../../../providers/kubeadm/plan/rollout/plan";
import { desiredFor, nodeAt, poolsOf } from "./nodes";

const BEFORE = { "control-plane": "m1.k1.p1", worker: "m1.k1" };
const AFTER = { "control-plane": "m1.k2.p1", worker: "m1.k2" };
const NAMES = ["cp-1", "cp-2", "cp-3", "w-1", "w-2", "w-3", "w-4"];

const nodeWith = (name: string, over: Partial<RolloutNode> = {}) => {
  const node = nodeAt(name, "1.36.3");
  const configuration = BEFORE[node.controlPlane ? "control-plane" : "worker"];
  return { ...node, current: { ...node.current, configuration }, ...over };
};
const cluster = (names = NAMES) => names.map((name) => nodeWith(name));
const changed = (nodes: RolloutNode[], name: string, over: Partial<RolloutNode>) =>
  nodes.map((node) => (node.name === name ? { ...node, ...over } : node));
const desired = (nodes: RolloutNode[], over: Partial<DesiredRollout> = {}) =>
  desiredFor(nodes, "1.36.3", {
    clusterVersion: "1.36.3",
    configuration: AFTER,
    pools: poolsOf(nodes, { w: { maxUnavailable: 2 }, x: { maxUnavailable: 2 } }),
    ...over,
  });

/** The waves of a plan, as "w-1, w-2". */
function waves(nodes: RolloutNode[], over: Partial<DesiredRollout> = {}) {
  const { steps, notes, refusals, standstill } = planRollout(nodes, desired(nodes, over));
  assert.deepEqual(refusals, []);
  const found = new Map<string, string[]>();
  for (const { pass, wave, node } of steps) {
    const key = `${pass}.${wave}`;
    found.set(key, [...(found.get(key) ?? []), node]);
  }
  const order = notes.filter((note) => note.startsWith("order: ") || note.includes("went back"));
  return { waves: [...found.values()].map((names) => names.join(", ")), order, standstill };
}

const WENT_BACK = { failedChange: { asked: { configuration: AFTER.worker }, why: "the kubelet ended" } };

describe("the order of a change that is not a version of Kubernetes", () => {
  it("begins with one worker, goes on with as many as may be away, and ends with control planes one at a time", () => {
    assert.deepEqual(waves(cluster()), {
      waves: ["w-1", "w-2, w-3", "w-4", "cp-1", "cp-2", "cp-3"],
      order: [
        "order: one worker first, the other workers when it is Ready with the change, and control planes last, since a failure there costs the most",
      ],
      standstill: undefined,
    });
  });

  it("tries one worker of all pools", () => {
    assert.deepEqual(waves(cluster(["cp-1", "w-1", "w-2", "w-3", "x-1", "x-2"])).waves, [
      "w-1",
      "w-2, w-3",
      "x-1, x-2",
      "cp-1",
    ]);
  });

  it("begins with one worker, too, when control planes do not change", () => {
    const { waves: found, order } = waves(cluster(), {
      configuration: { ...BEFORE, worker: AFTER.worker },
    });
    assert.deepEqual(found, ["w-1", "w-2, w-3", "w-4"]);
    assert.deepEqual(order, ["order: one worker first, and the others when it is Ready with the change"]);
  });

  it("goes to control planes alone, one at a time, when only they change", () => {
    const { waves: found, order } = waves(cluster(), {
      configuration: { ...BEFORE, "control-plane": "m1.k1.p2" },
    });
    assert.deepEqual(found, ["cp-1", "cp-2", "cp-3"]);
    assert.deepEqual(order, []);
  });

  it("tries no other worker when one works with the change already", () => {
    const nodes = changed(cluster(), "w-4", {
      current: { ...cluster()[3]!.current, configuration: "m1.k2" },
    });
    const { waves: found, order } = waves(nodes);
    assert.deepEqual(found, ["w-1, w-2", "w-3", "cp-1", "cp-2", "cp-3"]);
    assert.deepEqual(order, [
      "order: workers first, and control planes last, since a failure there costs the most",
    ]);
  });

  it("begins no second worker while the first one is not Ready with the change, or its window is open", () => {
    const done = { ...cluster()[3]!.current, configuration: "m1.k2" };
    const begun = (over: Partial<RolloutNode>) =>
      nextSteps(
        changed(cluster(), "w-1", { changesAllowed: true, current: done, ...over }),
        desired(cluster()),
        {
          begun: ["w-1"],
        },
      ).begin.map(({ node }) => node);
    assert.deepEqual(begun({ ready: false }), []);
    assert.deepEqual(begun({ ready: true }), []);
    const closed = nextSteps(changed(cluster(), "w-1", { current: done }), desired(cluster()));
    assert.deepEqual(
      closed.begin.map(({ node }) => node),
      ["w-2", "w-3"],
    );
  });

  it("goes on with control planes when a person's cordon stops the workers", () => {
    const done = { ...cluster()[3]!.current, configuration: "m1.k2" };
    const nodes = changed(cluster(["cp-1", "w-1", "w-2"]), "w-2", { unschedulable: true, current: done });
    const { waves: found, standstill } = waves(nodes, { pools: poolsOf(nodes) });
    assert.deepEqual(found, ["cp-1"]);
    assert.match(standstill ?? "", /w-2 of w cordoned outside of this rollout/);
  });

  it("is that of versions as long as a version of Kubernetes changes", () => {
    const old = cluster().map((node) => ({
      ...node,
      kubeletVersion: "1.36.2",
      current: { ...node.current, kubelet: "1.36.2", kubeadm: "1.36.2", kubectl: "1.36.2" },
    }));
    const { waves: found, order } = waves(old);
    assert.deepEqual(found, ["cp-1", "cp-2", "cp-3", "w-1, w-2", "w-3, w-4"]);
    assert.deepEqual(order, [
      "order: control planes first, since no kubelet may be newer than an API server",
    ]);
  });
});

describe("a change that failed on a node", () => {
  it("begins with that node, and goes to no other before it is done there", () => {
    const { waves: found, order } = waves(changed(cluster(), "w-3", WENT_BACK));
    assert.deepEqual(found, ["w-3", "w-1, w-2", "w-4", "cp-1", "cp-2", "cp-3"]);
    assert.deepEqual(order, [
      "w-3: went back from this change in an earlier run, and is tried first again; no other node gets the change before: the kubelet ended",
    ]);
  });

  it("begins with that control plane, before any worker", () => {
    const failedChange = { asked: { configuration: AFTER["control-plane"] }, why: "etcd" };
    assert.deepEqual(waves(changed(cluster(), "cp-2", { failedChange })).waves.slice(0, 3), [
      "cp-2",
      "w-1",
      "w-2, w-3",
    ]);
  });

  it("is forgotten when another value is wanted", () => {
    const over = { configuration: { ...AFTER, worker: "m1.k3" } };
    const { waves: found, order } = waves(changed(cluster(), "w-3", WENT_BACK), over);
    assert.deepEqual(found[0], "w-1");
    assert.match(order.join(), /^order: one worker first/);
  });

  it("keeps versions in the order of Kubernetes", () => {
    const asked = { kubelet: "1.36.4", kubeadm: "1.36.4", kubectl: "1.36.4" };
    const nodes = changed(cluster(), "w-2", { failedChange: { asked, why: "preflight" } });
    const { steps } = planRollout(nodes, desired(nodes, { version: "1.36.4" }));
    assert.deepEqual(
      steps.map(({ node, wave }) => `${wave} ${node}`),
      ["1 cp-1", "2 cp-2", "3 cp-3", "4 w-2", "5 w-1", "5 w-3", "6 w-4"],
    );
  });
});
